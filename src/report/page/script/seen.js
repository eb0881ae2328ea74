// Whether the pair has been seen. Nothing is decided about a pair that nobody can have read.

/** A pair counts as seen when it has been in view for so many milliseconds. */
const LOOK = 300;

/** The style leaves no more than this above a pair that is brought into view. */
const MARGIN = 12;

/** Since when the pair has been in view, null while it is not; and whether it has been seen since it came. */
const seen = { since: null, once: false };

/** Where both records are, above what they are in view, and whether the window has room for them: from where they begin once the pair is brought into view, down to the buttons. */
function measured() {
  const { top, bottom, height } = view.pair.querySelector(".sides").getBoundingClientRect();
  const bar = view.bar.getBoundingClientRect();
  const begin = top - view.place.getBoundingClientRect().top + MARGIN;
  return { top, bottom, begin, floor: Math.min(bar.top, window.innerHeight), fits: begin + height <= window.innerHeight - bar.height };
}

/** Whether both records are in view; where the window has no room for them, whether they fill most of it. */
function isInView() {
  const { top, bottom, begin, floor, fits } = measured();
  return fits ? top >= -1 && bottom <= floor + 1 : top <= begin && bottom >= (begin + floor) / 2;
}

/** Whether the records are in view from their beginning on. */
function isAtBeginning() {
  const { top, bottom, begin, floor } = measured();
  return top >= -1 && (bottom <= floor + 1 || top <= begin);
}

/** Takes note of whether the pair is in view now. The buttons are there while the part that decides is. */
function look() {
  const { top, bottom } = view.review.getBoundingClientRect();
  view.bar.classList.toggle("away", bottom < 0 || top > window.innerHeight);
  const now = performance.now();
  if (seen.since !== null && now - seen.since >= LOOK) seen.once = true;
  seen.since = pairAt() === undefined || !isInView() ? null : seen.since ?? now;
}

/** Brings the pair into view, at once, so that no key comes while it moves. */
function bringIntoView() {
  view.place.scrollIntoView({ behavior: "instant" });
  look();
}

/** Does what somebody asks for if the pair is in view, or if there is none; otherwise the pair comes into view, and they have to ask again. */
function ifInView(act) {
  look();
  if (pairAt() === undefined || seen.since !== null) {
    act();
    return;
  }
  bringIntoView();
  view.say("Here is the pair. Nothing has been decided: press again.");
}

/** The same if the pair has been seen, too. */
const ifSeen = (act) => ifInView(() => {
  if (pairAt() === undefined) return;
  if (performance.now() - seen.since >= LOOK) act();
  else view.say("Nothing has been decided: the pair has only just come into view. Press again.");
});

/** The same for buttons below the pair: it may be out of view again, or there may be none. */
function ifSeenOnce(act) {
  look();
  if (seen.once || pairAt() === undefined) act();
  else ifSeen(act);
}

window.addEventListener("scroll", look, { passive: true });
window.addEventListener("resize", look);
