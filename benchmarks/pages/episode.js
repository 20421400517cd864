// Put into every task page: starts the episode with its seed, tells the benchmark the goal and the reward, and goes where it says.
(() => {
  const told = (kind, body) => navigator.sendBeacon("/told/" + kind, JSON.stringify({ number, ...body }));
  const asked = new URLSearchParams(location.search);
  const number = Number(asked.get("number"));
  new EventSource("/orders?after=" + (number || 0)).onmessage = (order) => location.replace(order.data);
  if (typeof core === "undefined" || !asked.has("seed")) return;
  const hidden = document.createElement("style");
  hidden.textContent =
    "#query, #reward-display, #sync-task-cover, #click-canvas { visibility: hidden !important; pointer-events: none !important }";
  document.head.append(hidden);
  const end = core.endEpisode;
  core.endEpisode = (...given) => {
    const first = !WOB_DONE_GLOBAL;
    end(...given);
    if (first && WOB_DONE_GLOBAL) told("done", { reward: WOB_RAW_REWARD_GLOBAL, why: String(WOB_REWARD_REASON || "") });
  };
  // What can be seen and is in no accessibility tree: drawings, and things to click that have no words.
  const drawn = () =>
    [...document.querySelectorAll("#wrap svg *, #wrap canvas:not(#click-canvas), #wrap img, #area *")].filter((each) => {
      if (each.closest("#query") || !each.getClientRects().length) return false;
      if (each.closest("svg") || each.tagName === "CANVAS") return true;
      const wordless = !each.textContent.trim() && !/^(INPUT|TEXTAREA|SELECT|OPTION|BR|HR)$/.test(each.tagName);
      return wordless && getComputedStyle(each).cursor === "pointer";
    }).length;
  const ready = () => {
    if (!WOB_TASK_READY) return setTimeout(ready, 10);
    const goal = core.getUtterance();
    told("ready", { goal: typeof goal === "string" ? goal : goal.utterance, drawn: drawn() });
  };
  const begin = () => {
    core.EPISODE_MAX_TIME = 1e6;
    Math.seedrandom(asked.get("seed"));
    core.setDataMode && core.setDataMode("train");
    core.startEpisodeReal();
    ready();
  };
  if (document.readyState === "complete") setTimeout(begin, 0);
  else addEventListener("load", () => setTimeout(begin, 0));
})();
