"""What a call cost, from the price list that ships with genai-prices. Never a network call."""

from __future__ import annotations

from deskhand.orchestrator.models.capabilities import Capabilities


def cost_usd(
    model: str,
    known: Capabilities,
    *,
    input_tokens: int,
    output_tokens: int,
    cached_tokens: int,
    written_tokens: int = 0,
    api_url: str = "",
) -> float | None:
    """US dollars of one call, or None when the price is unknown.

    ``input_tokens`` is the whole input, ``cached_tokens`` (read from the cache) and ``written_tokens`` (written to it)
    included. A price in the settings wins over the list; ``api_url`` tells
    whose list it is where the provider does not.
    """
    if known.price_input is not None and known.price_output is not None:
        cached_price = known.price_input if known.price_cached is None else known.price_cached
        fresh = input_tokens - cached_tokens
        return (
            fresh * known.price_input + cached_tokens * cached_price + output_tokens * known.price_output
        ) / 1e6
    if not known.price_provider and not api_url:
        return None
    import genai_prices

    usage = genai_prices.Usage(
        input_tokens=input_tokens,
        output_tokens=output_tokens,
        cache_read_tokens=cached_tokens,
        cache_write_tokens=written_tokens,
    )
    try:
        if known.price_provider:
            priced = genai_prices.calc_price(usage, model, provider_id=known.price_provider)
        else:
            priced = genai_prices.calc_price(usage, model, provider_api_url=api_url)
        return float(priced.total_price)
    except (LookupError, ValueError):
        return None
