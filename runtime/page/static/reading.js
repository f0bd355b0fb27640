// Lets the program read the log while the browser still loads the charts' library, and shows how far it has got.

const LOOK_MS = 150;
const main = document.getElementById("run");
const bar = document.getElementById("reading");
const base = `/runs/${encodeURIComponent(main?.dataset.run ?? "")}`;

/** Follows the reading until the first panel takes the place of its words. */
async function follow() {
  while (bar instanceof HTMLProgressElement && bar.isConnected) {
    const answer = await fetch(`${base}/reading`);
    const text = await answer.text(); // an answer that nobody reads stays open
    if (answer.ok) bar.value = JSON.parse(text).read;
    await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
  }
}

void fetch(`${base}/facts`).then((answer) => answer.text()).catch(() => undefined); // page.js asks for the same, and says what is wrong
void follow().catch(() => undefined);
