"""The computer itself: private display, buses, sandbox, capture, input, recording."""
