// What runs in the browser. Static, and ours: nothing that a corpus or a person wrote is ever put into it.
// browser.py puts in the language of the page (LANGUAGE) and what is said in it (SPOKEN), and leaves out these
// notes.
// - why the language: Streamlit always writes <html lang="en">, and screen readers believe it.
// - why Enter: in a form, Streamlit's text area only sends with Ctrl + Enter, which nobody looks for.
//   Fingers on glass (pointer: coarse) keep their new line and use the button; so does whoever composes a
//   character.
// - why the fallback of copy: without https, other machines than this one have no navigator.clipboard.
// - why links: a link of ours (data-go) is a real one, for another tab or without this script; a plain click
//   would load Streamlit anew and lose the session, so the address is changed as "back" changes it, to which
//   Streamlit answers with the new view. The keyboard then goes on from the view's heading (data-arrive).
// - why stay: what is added to the list stands at its end, and who adds reads on where they are.
// - why print: a text area prints only the lines that it shows, and that of a question none; their texts are
//   put where print shows them whole.
// - why focus after sending: on a phone the articles begin below the screen, and a screen reader should go on
//   from them. Whoever types on meanwhile is left where they are.
// - why tend: Streamlit's links between pages are in no landmark, and its boxes are labelled in English only.
// - why kept: a reload, and a telephone that has put the tab away, end Streamlit's session, and the question
//   is in no address. It waits in this tab alone (sessionStorage), from leaving until the next arrival; unless
//   that is a reload or a way back, it is thrown away. On a page without its box (an article in its code) it
//   goes on waiting for the box. What was asked is asked again: the page bears a mark of it (data-question),
//   which tells nothing of it. Other words that stand in the box were not asked, and are only put back. What
//   is searched within a code is treated alike.
// - why shorten: a long story would push its answer off a phone. Its box gives way once it is answered, is whole
//   again where it is changed, and stays so: if it gave way when it is left, what is pressed next would move away.
// - why steps: "back" leads to the question before, which is in no address. An entry of the browser's history
//   bears a number; the questions wait in this page, and from leaving until a reload where what is kept waits.
// - why offline: Streamlit says that the server is gone in English, with a command to type, over the page.
//   Its dialog is closed by its own button (hidden, it would keep the keyboard), and ours stands below.
// - why unfold: the tables behind "More about this ranking" would be most of an answer's elements, and hardly
//   anybody opens them. They come as one attribute (data-more) and are made when they are opened, element by
//   element from a short list: nothing else, and no attribute but those named, comes into the page. The click
//   comes before they are shown, so that nothing jumps; toggle is for whatever opens them without one. The
//   price: the browser's search in the page does not find their words before.
document.documentElement.lang = "LANGUAGE";
window.pandectSpoken = SPOKEN;
if (!window.pandectListens) {
  window.pandectListens = true;
  let asked = 0;  // when a question was sent, while nothing else was done since
  const sent = () => { asked = Date.now(); };
  const send = (box) => box.dispatchEvent(
    new KeyboardEvent("keydown", {key: "Enter", code: "Enter", ctrlKey: true, bubbles: true}));
  document.addEventListener("keydown", (event) => {
    const box = event.target.closest && event.target.closest(".st-key-question textarea");
    if (!box || event.key !== "Enter") return;
    if (event.shiftKey || event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.isComposing || window.matchMedia("(pointer: coarse)").matches) return;
    event.preventDefault();
    send(box);
    sent();
  }, true);
  document.addEventListener("keydown", (event) => {
    if (event.isTrusted && event.key !== "Enter") asked = 0;
  });
  document.addEventListener("click", (event) => {
    const button = event.target.closest && event.target.closest("button");
    if (!button) return;
    const form = button.closest(".stForm");
    if (button.closest(".st-key-examples, .st-key-topic, .st-key-lay-terms") || (form && form.querySelector(".st-key-question"))) sent();
  });
  const views = ".pd-box, .pd-found, .pd-columns";
  const above = ".st-key-lay-terms, .st-key-situated, .st-key-bridged, .st-key-unbridged, .pd-read-as";
  const found = () => {
    asked = 0;
    const place = document.querySelector(views);
    if (!place) return;
    const heading = place.querySelector("h2, h3") || place;
    heading.tabIndex = -1;
    heading.dataset.sent = "";
    heading.focus({preventScroll: true});
    const first = document.querySelector(`${above}, ${views}`);  // of what was done with the question
    const top = first.getBoundingClientRect().top;
    if (top < 0 || top > window.innerHeight / 2) first.scrollIntoView();
  };
  const boxes = ".stMultiSelect [aria-label], .stDateInput [aria-label]";
  const tend = () => {
    const spoken = window.pandectSpoken;
    const pages = document.querySelector(".st-key-pages");
    if (pages) {
      pages.setAttribute("role", "navigation");
      pages.setAttribute("aria-label", spoken.pages);
      const open = document.querySelector("[data-page]");
      for (const link of pages.querySelectorAll("a")) {
        const name = (link.getAttribute("href") || "").split("?")[0].split("/").pop();
        if (open && name === open.dataset.page) link.setAttribute("aria-current", "page");
        else link.removeAttribute("aria-current");
      }
    }
    for (const one of document.querySelectorAll(boxes)) {
      const label = one.getAttribute("aria-label");
      // the language of the page may have changed since
      const english = label === one.dataset.said ? one.dataset.english : label;
      const [first, ...rest] = english.split(" ");
      const said = spoken[english]
        || (first === "Remove" && [spoken.Remove, ...rest].join(" "))
        || (/^(day|month|year),$/.test(first) && [spoken[first.slice(0, -1)] + ",", ...rest].join(" "));
      if (!said) continue;
      Object.assign(one.dataset, {said, english});
      if (label !== said) one.setAttribute("aria-label", said);
    }
    for (const zone of document.querySelectorAll("[data-testid=stFileUploaderDropzone]")) {
      if (zone.getAttribute("role") !== "group") zone.setAttribute("role", "group");  // it has a name
      const choose = zone.querySelector("button");
      if (choose && choose.getAttribute("aria-label") !== spoken.file) choose.setAttribute("aria-label", spoken.file);
    }
  };
  const offline = document.createElement("p");
  offline.className = "pd-offline";
  offline.setAttribute("role", "status");
  document.body.append(offline);
  let gone = 0;
  const connection = (app) => {
    const there = app.dataset.testConnectionState === "CONNECTED";
    if (there) {
      clearTimeout(gone);
      gone = 0;
      offline.textContent = "";
      return;
    }
    gone = gone || setTimeout(() => { offline.textContent = window.pandectSpoken.offline; }, 1500);
    const close = document.querySelector("[data-testid=stDialog] button[aria-label=Close]");
    if (close) close.click();
  };
  const KEPT = "pandect-question";
  const STEPS = "pandect-steps";
  const BOXES = {question: ".st-key-question textarea", within: ".st-key-within input"};
  const boxOf = (name) => document.querySelector(BOXES[name]);
  const mark = (text) => {  // as `mark` in browser.py
    let value = 0x811c9dc5;
    for (let n = 0; n < text.length; n++) value = Math.imul(value ^ text.charCodeAt(n), 0x01000193);
    return (value >>> 0).toString(16);
  };
  const isAsked = (name, text) => document.querySelector(`[data-${name}]`)?.dataset[name] === mark(text);
  const lastAsked = {};  // name of a box -> what was seen in it and had been asked
  const listen = () => {
    for (const name in BOXES) {
      const text = boxOf(name)?.value;
      if (text && isAsked(name, text)) lastAsked[name] = text;
    }
  };
  let kept = {};  // name of a box -> what waits for it
  let steps = [""];  // what was asked at each step; nothing at the first
  const since = {};  // name of a box -> when it was first there
  const sentAgain = new Set();  // names of boxes
  try {
    const [arrival] = performance.getEntriesByType("navigation");
    const again = document.wasDiscarded || ["reload", "back_forward"].includes(arrival && arrival.type);
    if (again) {
      kept = JSON.parse(sessionStorage.getItem(KEPT)) || {};
      steps = JSON.parse(sessionStorage.getItem(STEPS)) || steps;
    }
    sessionStorage.removeItem(KEPT);
    sessionStorage.removeItem(STEPS);
  } catch { kept = {}; }  // a browser that stores nothing: the box is empty, as it would be
  window.addEventListener("pagehide", () => {
    listen();
    const waits = {...kept};
    if (steps.length > 1) try { sessionStorage.setItem(STEPS, JSON.stringify(steps)); } catch { /* as above */ }
    for (const name in BOXES) {
      const box = boxOf(name);
      const text = box ? box.value : lastAsked[name];
      if (!text) continue;
      // a second reload may come before the page says that it was asked
      const asked = isAsked(name, text) || (kept[name]?.asked && kept[name].text === text);
      if (asked) waits[name] = {text, asked};
      else if (box) waits[name] = {text, page: location.pathname};
    }
    if (!Object.keys(waits).length) return;
    try { sessionStorage.setItem(KEPT, JSON.stringify(waits)); } catch { return; }
  });
  const leave = () => {  // whoever writes or presses something where the box is goes on from there
    for (const name in BOXES) if (boxOf(name)) delete kept[name];
  };
  const putBack = () => {
    const isLink = new URLSearchParams(location.search).has("articles");  // a question would close it
    for (const name in kept) {
      const box = boxOf(name);
      const {text, page, asked} = kept[name];
      if (!box) continue;
      since[name] = since[name] || Date.now();
      const late = Date.now() - since[name] > 15000;
      if (late || (page && page !== location.pathname)) { delete kept[name]; continue; }
      if (box.value) continue;  // the first runs of the page may empty it once more: looked at until then
      Object.getOwnPropertyDescriptor(Object.getPrototypeOf(box), "value").set.call(box, text);
      box.dispatchEvent(new Event("input", {bubbles: true}));
      if (!asked || isLink || sentAgain.has(name)) continue;
      sentAgain.add(name);
      setTimeout(() => send(box), 100);
    }
  };
  for (const each of ["keydown", "pointerdown"]) {
    document.addEventListener(each, (event) => { if (event.isTrusted) leave(); }, true);
  }
  const stepOf = (state) => (state && Number.isInteger(state.pandect) ? state.pandect : -1);
  let step = Math.max(stepOf(history.state), 0);  // where the page is
  let wanted = -1;  // where the browser went and the page is not yet
  let going = 0;  // when that was asked for, until it runs: what stands there meanwhile is the view before
  const put = (number, change) => {
    step = number;
    history[change]({...history.state, pandect: step}, "");
  };
  const takeStep = () => {  // the address may have changed since, which makes an entry without a number
    const box = boxOf("question");
    const change = stepOf(history.state) < 0 ? "replaceState" : "pushState";
    if (steps[step] == null && box && box.value && isAsked("question", box.value)) {
      steps[step] = box.value;  // a tab that was doubled or restored has the number, and not what it stands for
      return;
    }
    if (!box || !box.value || box.value === steps[step] || !isAsked("question", box.value)) {
      if (change === "replaceState") put(step, change);
      return;
    }
    steps = [...Array.from({length: step + 1}, (_, number) => steps[number] ?? null), box.value];
    put(step + 1, change);
  };
  const goToStep = () => {
    const box = boxOf("question");
    if (!box) return;
    const text = steps[wanted];
    step = wanted;
    wanted = -1;
    if (text == null || (text && isAsked("question", text))) return;
    sent();
    going = Date.now();
    if (!text) {
      const restart = document.querySelector(".st-key-restart button");
      if (restart) restart.click();
      else going = 0;
      return;
    }
    Object.getOwnPropertyDescriptor(Object.getPrototypeOf(box), "value").set.call(box, text);
    box.dispatchEvent(new Event("input", {bubbles: true}));
    setTimeout(() => send(box), 100);
  };
  window.addEventListener("popstate", (event) => {
    if (stepOf(event.state) < 0 || stepOf(event.state) === step) return;
    wanted = stepOf(event.state);
    setTimeout(look, 100);  // Streamlit may have nothing to do
  });
  const shorten = () => {
    const box = boxOf("question");
    if (!box || box === document.activeElement || box.pandectShort === box.value) return;
    if (!isAsked("question", box.value) || !document.querySelector(".pd-found")) return;
    box.pandectShort = box.value;
    box.dataset.short = "";
    box.scrollTop = 0;
  };
  document.addEventListener("focusin", (event) => {
    if (event.target === boxOf("question")) delete event.target.dataset.short;
  });
  let turned = false;
  let waits = false;
  const look = () => {
    waits = false;
    tend();
    const app = document.querySelector(".stApp");
    if (!app) return;
    connection(app);
    const rests = app.dataset.testScriptState === "notRunning";
    if (!rests || Date.now() - going > 3000) going = 0;
    if (rests) {
      listen();
      putBack();
      if (!going && wanted >= 0) {
        goToStep();
        turned = false;  // what has just been drawn is the view before
      } else if (!going && !Object.keys(kept).length) takeStep();
    }
    const late = Date.now() - asked > 15000;
    if (asked && !late && turned && app.dataset.testScriptState === "notRunning") found();
    if (rests) shorten();
    turned = false;
  };
  new MutationObserver((changes) => {
    turned = turned || changes.some((each) => each.attributeName === "data-test-script-state");
    if (waits) return;
    waits = true;
    requestAnimationFrame(look);
  }).observe(document.body, {
    childList: true, subtree: true, attributes: true,
    attributeFilter: ["data-test-script-state", "data-test-connection-state"],
  });
  look();
  document.addEventListener("click", (event) => {
    const link = event.target.closest && event.target.closest("a[data-go]");
    if (!link || event.button || event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return;
    event.preventDefault();
    const seen = document.querySelector("[data-arrive]");
    const cards = () => [...document.querySelectorAll(".pd-card")];
    const adds = new URL(link.href).searchParams.get("add");
    const place = adds && {card: cards().indexOf(link.closest(".pd-card")), top: link.getBoundingClientRect().top};
    history.pushState({}, "", link.href);
    window.dispatchEvent(new PopStateEvent("popstate", {state: {}}));
    let arrived = null;  // where the focus was put
    const watch = new MutationObserver(() => {
      // a page is drawn more than once: what is drawn anew takes the focus over from what it replaces, and
      // what comes above it moves nothing
      const lost = arrived && !arrived.isConnected && document.activeElement === document.body;
      if (arrived && !lost) return place && arrived.isConnected && stay(arrived, place.top);
      const heading = document.querySelector("[data-arrive]");
      if (!heading || (seen && heading.dataset.arrive === seen.dataset.arrive)) return;
      const said = place && cards()[place.card]?.querySelector(`[data-added="${CSS.escape(adds)}"]`);
      if (place && !said) return;
      arrived = said || heading;
      reveal(arrived);
      if (said) stay(said, place.top);
      else if (!lost) heading.scrollIntoView();
    });
    watch.observe(document.body, {childList: true, subtree: true, attributes: true});
    const done = new AbortController();
    const end = () => {
      watch.disconnect();
      done.abort();
    };
    const movesOn = () => { if (arrived) end(); };  // and is not held back
    for (const acts of ["pointerdown", "wheel", "touchstart", "keydown"])
      document.addEventListener(acts, movesOn, {signal: done.signal, passive: true});
    setTimeout(end, 10000);
  });
  const reveal = (target) => {
    for (let around = target.closest("details"); around; around = around.parentElement.closest("details"))
      around.open = true;
    target.focus({preventScroll: true});
  };
  const stay = (target, top) => {
    const main = document.querySelector("[data-testid=stMain]");
    const moved = Math.round(target.getBoundingClientRect().top - top);
    if (moved) main.scrollTop += moved;
  };
  const facts = () => {
    const box = document.querySelector(".st-key-facts textarea");
    const copy = document.querySelector(".pd-facts");
    if (box && copy) copy.textContent = box.value;
    listen();
    const asked = document.querySelector(".pd-print-only");
    if (asked) asked.textContent = lastAsked.question || "";
  };
  window.addEventListener("beforeprint", facts);
  document.addEventListener("click", (event) => {
    if (event.target.closest && event.target.closest("button[data-print]")) window.print();
  });
  document.addEventListener("click", async (event) => {
    const button = event.target.closest && event.target.closest("button[data-copy]");
    if (!button || button.dataset.busy) return;
    const label = button.textContent;
    try {
      await navigator.clipboard.writeText(button.dataset.copy);
      button.textContent = button.dataset.done;
    } catch {
      button.textContent = button.dataset.copy;
      window.getSelection().selectAllChildren(button);
      return;
    }
    button.dataset.busy = "yes";
    setTimeout(() => { button.textContent = label; delete button.dataset.busy; }, 2000);
  });
  // rag/ui/components/explanation.py writes no others
  const MADE = ["table", "caption", "thead", "tbody", "tr", "th", "td", "p", "ul", "li", "q"];
  const KEPT_OF_IT = ["class", "scope", "lang"];
  const make = (from, into) => {
    for (const child of from.childNodes) {
      if (child.nodeType === Node.TEXT_NODE) into.append(child.data);
      if (!MADE.includes(child.localName)) continue;
      const made = document.createElement(child.localName);
      for (const name of KEPT_OF_IT)
        if (child.hasAttribute(name)) made.setAttribute(name, child.getAttribute(name));
      const part = parseInt(child.style.getPropertyValue("--part"), 10);
      if (part >= 0) made.style.setProperty("--part", part);
      make(child, made);
      into.append(made);
    }
  };
  const unfold = (details) => {
    if (details && details.dataset.more && details.childElementCount === 1)
      make(new DOMParser().parseFromString(details.dataset.more, "text/html").body, details);
  };
  document.addEventListener("click", (event) => {
    const summary = event.target.closest && event.target.closest("summary");
    if (summary) unfold(summary.parentElement);
  }, true);
  document.addEventListener("toggle", (event) => unfold(event.target), true);
}
