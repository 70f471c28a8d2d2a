// Player: plays the video of the origin server with dash.js, and sends what happened to the page's own server.

/** Time between two samples of the playback, ms. */
const SAMPLING = 50;

async function play() {
  const settings = await (await fetch("settings.json")).json();
  const video = document.querySelector("video");
  const player = dashjs.MediaPlayer().create();
  player.updateSettings(settings.dashjs);
  const log = { requests: [], samples: [], errors: [] };
  // The link begins to follow its record now.
  await fetch("start", { method: "POST" });
  const start = performance.now();
  const now = () => (performance.now() - start) / 1000;
  const note = (kind) => ({ request }) => {
    if (request && request.type === "MediaSegment") {
      log.requests.push({ t: now(), kind, url: request.url });
    }
  };
  const events = dashjs.MediaPlayer.events;
  player.on(events.FRAGMENT_LOADING_STARTED, note("requested"));
  player.on(events.FRAGMENT_LOADING_COMPLETED, note("arrived"));
  player.on(events.FRAGMENT_LOADING_ABANDONED, note("abandoned"));
  player.on(events.ERROR, ({ error }) => log.errors.push(`${error.code}: ${error.message}`));

  let over = false;
  const end = async () => {
    if (over) {
      return;
    }
    over = true;
    clearInterval(timer);
    await fetch("log", { method: "POST", body: JSON.stringify(log) });
  };
  const timer = setInterval(() => {
    const at = video.currentTime;
    const ranges = video.buffered;
    let ahead = 0;
    for (let range = 0; range < ranges.length; range++) {
      if (ranges.start(range) <= at + 0.3 && at < ranges.end(range)) {
        ahead = ranges.end(range) - at;
      }
    }
    log.samples.push([now(), at, ahead]);
    if (video.ended || now() > settings.longest_s) {
      end();
    }
  }, SAMPLING);
  player.initialize(video, settings.manifest, true);
}

play();
