"""Whoever decides makes no decision that they did not mean, and can take back what they have decided."""

import random
import time

from browser import Keys, PageTest, webdriver

PAGES = ("table", "model", "linkage", "entities")
WIDTHS = (1280, 400)
VERDICTS = {"y": "same", "n": "different", "u": "unsure"}


class Keyboard(PageTest):
    def everywhere(self, pages=PAGES):
        """Opens each page in a wide and in a narrow window."""
        for page in pages:
            for width in WIDTHS:
                self.size(width)
                self.open(page)
                yield f"{page} at {width}"

    def scroll(self, to, smooth=False):
        top = {"top": "0", "end": "document.body.scrollHeight", "pair": "document.getElementById('pair-place').getBoundingClientRect().top + scrollY - 8"}[to]
        self.driver.execute_script(f"window.scrollTo({{ top: {top}, behavior: '{'smooth' if smooth else 'instant'}' }})")

    def look(self):
        # What has been scrolled smoothly comes to an end first.
        at = lambda: self.driver.execute_script("return scrollY")
        before = None
        while before != (before := at()):
            time.sleep(0.1)
        self.scroll("pair")
        self.read()

    def cut(self, side):
        """Scrolls so far that the first line of the records, or the last one, is hidden."""
        self.driver.execute_script("""const { top, bottom } = document.querySelector('.sides').getBoundingClientRect();
            const floor = document.querySelector('.bar-of-answers').getBoundingClientRect().top;
            window.scrollBy({ top: arguments[0] === 'top' ? top + 12 : bottom - floor - 12, behavior: 'instant' })""", side)

    def test_out_of_view(self):
        for where in self.everywhere():
            for place in ("end", "top"):
                for key in "ynuc":
                    self.scroll(place)
                    if place == "top":
                        self.cut("top")
                    self.keys(key)
                    self.assertEqual(self.decided(), {}, f"{key} in {where} from {place}")
                    self.assertIn("Nothing has been decided", self.text(".said"))
                    # Now it is in view: as much of it as there is room for.
                    top, bottom, floor = self.driver.execute_script("""const { top, bottom } = document.querySelector('.sides').getBoundingClientRect();
                        return [top, bottom, document.querySelector('.bar-of-answers').getBoundingClientRect().top]""")
                    self.assertTrue(0 <= top < floor - 100 and (bottom <= floor + 1 or bottom - top > floor - 150), f"{where}: {top} to {bottom} above {floor}")
            self.read()
            self.keys("y")
            self.assertEqual(len(self.decided()), 1, where)
        # In a window so low that the buttons hide the last line.
        for page in PAGES:
            self.size(1280, 640)
            self.open(page)
            self.scroll("top")
            self.cut("bottom")
            self.read()
            self.keys("y")
            self.assertEqual(self.decided(), {}, page)

    def test_answers_out_of_view_by_mouse(self):
        for where in self.everywhere():
            self.driver.execute_script("document.querySelector('#review').scrollIntoView({ block: 'end' }); document.activeElement.blur()")
            for css in ("button.same", "button.different", "button.unsure"):
                self.scroll("end")
                self.driver.execute_script("arguments[0].click()", self.find(css))
                self.assertEqual(self.decided(), {}, where)

    def test_held_key(self):
        for where in self.everywhere(("model",)):
            self.look()
            self.event("n")
            for _ in range(6):
                self.read()
                self.event("n", repeat=True)
            self.release("n")
            self.assertEqual(len(self.decided()), 1, where)
            # A button that is held by Enter.
            self.read()
            self.driver.execute_script("arguments[0].focus({ preventScroll: true })", self.find("button.same"))
            self.event("Enter")
            for _ in range(4):
                self.read()
                self.event("Enter", repeat=True)
            self.release("Enter")
            self.assertEqual(sorted(self.decided().values()), ["different", "same"], where)

    def test_two_fast_keys(self):
        for where in self.everywhere(("table", "model")):
            # While the page moves to the pair, or away from it.
            self.scroll("end")
            self.scroll("pair", smooth=True)
            self.keys("y", "y")
            self.assertEqual(self.decided(), {}, where)
            self.look()
            self.scroll("end", smooth=True)
            self.keys("y", "y", "y")
            self.assertLessEqual(len(self.decided()), 1, where)
            # Of the pair that comes next nobody has read anything.
            self.open(self.driver.current_url.split("/")[-1][:-5])
            self.look()
            first = self.shown()
            self.keys("y", "n", "u")
            self.assertEqual(self.decided(), {first: "same"}, where)
            self.assertIn("Nothing has been decided", self.text(".said"))

    def test_keys_for_something_else(self):
        for where in self.everywhere(("table",)):
            self.driver.execute_script("""document.querySelector('.many').open = true; document.querySelector('.which').open = true;
                const box = Object.assign(document.createElement('input'), { type: 'checkbox', id: 'box' }); document.querySelector('.bar-of-pair').append(box)""")
            self.look()
            # Ctrl, Alt and Meta belong to the browser: Ctrl+Y, Ctrl+U.
            for key in "ynux":
                for modifiers in (1, 2, 4, 6):
                    self.event(key, modifiers=modifiers)
                    self.release(key)
                    self.assertEqual(self.decided(), {}, f"{key} with {modifiers}, {where}")
            # Where something is typed, chosen or ticked.
            for css in ("#many-from", ".filters select", "#box"):
                self.driver.execute_script("arguments[0].focus({ preventScroll: true })", self.find(css))
                self.keys("n", "y", "u")
                self.read()
            self.assertEqual(self.decided(), {}, where)
            # A button that has the focus keeps nobody from deciding, and does not decide itself.
            self.driver.execute_script("document.querySelector('.which').open = true; [...document.querySelectorAll('.moves button')].find((b) => b.textContent.startsWith('Next')).focus({ preventScroll: true })")
            self.look()
            shown = self.shown()
            self.keys("u")
            self.assertEqual(self.decided(), {shown: "unsure"}, where)
            self.keys("?")
            self.assertEqual(len(self.decided()), 1, where)

    def test_twenty_pairs(self):
        """Twenty pairs are decided by somebody who is disturbed, and every decision is about the pair that they had in view."""
        chance = random.Random(35)
        disturbances = {
            "none": lambda: None,
            "scrolled to the end": lambda: (self.scroll("end"), self.keys(chance.choice("ynu"))),
            "scrolled smoothly": lambda: (self.scroll("end", smooth=True), self.keys("y", "y")),
            "went on and back": lambda: self.keys("j", "k"),
            "pressed twice": None,
            "a shortcut": lambda: self.event(chance.choice("ynu"), modifiers=2),
            "a page further": lambda: self.keys(Keys.PAGE_DOWN, "y"),
        }
        for where in self.everywhere(("register",)):
            meant = {}
            for i in range(20):
                self.look()
                before = dict(meant)
                what = chance.choice(list(disturbances))
                if disturbances[what]:
                    # Whatever happens while the pair is not read, may decide about no other pair than this one.
                    shown = self.shown()
                    disturbances[what]()
                    self.assertLessEqual(set(self.decided()) - set(before), {shown}, f"{where}, pair {i + 1}, {what}")
                    meant = self.decided()
                self.look()
                shown = self.shown()
                key = chance.choice("ynu")
                self.keys(key, key) if what == "pressed twice" else self.keys(key)
                meant[shown] = VERDICTS[key]
                self.assertEqual(self.decided(), meant, f"{where}, pair {i + 1}, {what}")
            self.assertGreaterEqual(len(meant), 20, where)


class TakingBack(PageTest):
    def everywhere(self, *pages):
        """Opens each page in a wide and in a narrow window."""
        for page in pages:
            for width in WIDTHS:
                self.size(width)
                self.open(page)
                # In a narrow window they are folded.
                self.driver.execute_script("document.querySelector('.which').open = true; document.querySelector('.many').open = true")
                yield f"{page} at {width}"

    def choose(self, label, value):
        super().choose(label, value)
        # Keys that are pressed in a list choose from it.
        self.driver.execute_script("document.activeElement.blur()")

    def many(self, css):
        """Decides many pairs by the keyboard, and gives how many."""
        button = self.find(css)
        n = int(button.text.split()[1].replace(",", ""))
        before = len(self.decided())
        self.see()
        button.send_keys(Keys.ENTER)
        self.assertEqual(len(self.decided()), before + n)
        self.assertIn("Take back, or x, undoes that", self.text(".said"))
        return n

    def test_one(self):
        for where in self.everywhere("model", "table"):
            first = self.shown()
            self.press("y")
            second = self.shown()
            self.press("n")
            self.assertEqual(self.decided(), {first: "same", second: "different"}, where)
            # The one that was decided last, at once, and it is shown.
            self.keys("x")
            self.assertEqual((self.decided(), self.shown()), ({first: "same"}, second), where)
            self.assertIn("Taken back. Undecided: ", self.text(".said"))
            self.keys("x")
            self.assertEqual((self.decided(), self.shown()), ({}, first), where)
            self.assertFalse(self.find("#take-back").is_enabled())
            self.keys("x")
            self.assertIn("Nothing is left to take back", self.text(".said"))
            # What somebody has decided otherwise becomes what it was.
            self.press("y", "k", "n")
            self.keys("x")
            self.assertEqual((self.decided(), self.shown()), ({first: "same"}, first), where)
            self.assertIn("Taken back. Same: ", self.text(".said"))
            self.assertEqual(self.find("button.same").get_attribute("aria-pressed"), "true")
            # It is the last step, and not what was decided about the pair in view.
            self.press("j", "n", "k", "k")
            self.assertEqual(self.shown(), first)
            self.keys("x")
            self.assertEqual((self.decided(), self.shown()), ({first: "same"}, second), where)
            # Wherever one has gone since: to other pairs, to the end of the page, to pairs of another kind.
            self.press("j", "j", "j")
            self.driver.execute_script("window.scrollTo({ top: document.body.scrollHeight, behavior: 'instant' })")
            self.keys("x")
            self.assertEqual((self.decided(), self.shown()), ({}, first), where)
            self.assertTrue(self.in_window("#pair-place"), where)
            self.assertTrue(self.in_window(".said"), where)
            self.press("y")
            bands = [option.get_attribute("value") for option in self.all(".filters label:nth-child(2) option")]
            self.press("k")
            band = int(float(self.text(".about .n")) * 20)
            self.choose("Probability" if "model" in where else "Similarity", next(value for value in bands if value not in ("all", str(band))))
            self.assertNotEqual(self.shown(), first)
            self.keys("x")
            self.assertEqual((self.decided(), self.shown()), ({}, first), where)
            # A key that is held takes back one step.
            self.press("y", "n")
            self.event("x")
            self.event("x", repeat=True)
            self.release("x")
            self.assertEqual(len(self.decided()), 1, where)

    def test_no_decision(self):
        for where in self.everywhere("model"):
            first = self.shown()
            self.press("c")
            self.assertIn("Nothing has been decided here about this pair", self.text(".said"))
            self.assertFalse(self.find("#take-back").is_enabled())
            self.press("y", "n", "k", "k")
            self.assertTrue(self.in_window("#forget"), where)
            self.assertEqual(self.overflow(), [], where)
            self.shot(f"no-decision-{where.split()[-1]}", "#pair-place")
            self.press("c")
            self.assertEqual((list(self.decided().values()), self.shown()), (["different"], first), where)
            self.assertIn("Undecided: ", self.text(".said"))
            # That is a step, too, and those before it are still there.
            self.keys("x")
            self.assertEqual((self.decided()[first], self.shown()), ("same", first), where)
            self.read()
            self.find("#forget").click()
            self.assertEqual(list(self.decided().values()), ["different"], where)
            self.keys("x", "x")
            self.assertEqual(self.decided(), {first: "same"}, where)
            self.keys("x")
            self.assertEqual(self.decided(), {}, where)

    def test_many(self):
        for where in self.everywhere("table", "model"):
            first = self.shown()
            self.press("n")
            before, looked_at = self.decided(), self.shown()
            n = self.many("#alike-same")
            self.assertGreater(n, 0)
            # A pair after that is a step of its own.
            self.press("j", "u")
            self.keys("x")
            self.assertEqual(len(self.decided()), n + 1, where)
            # All of them by one key, whatever is in view; it says so, and the pair is there that was.
            self.press("j")
            self.keys("x")
            self.assertEqual((self.decided(), self.shown()), (before, looked_at), where)
            self.assertEqual(self.text(".said"), f"Taken back: Same of {n:,} pairs, which are undecided again." if n > 1 else self.text(".said"))
            self.keys("x")
            self.assertEqual((self.decided(), self.shown()), ({}, first), where)
            # Also where pairs are in view that are decided, by that step or before.
            self.choose("Pairs", "all")
            self.press("y", "k", "n")
            before = self.decided()
            field = self.find("#many-from")
            field.clear()
            field.send_keys("0.97")
            above = {i for i, pair in enumerate(self.data()["pairs"]) if pair["value"] >= 0.97 and not (pair["was"] and not pair["stale"])}
            self.assertEqual(self.text("#above-same"), f"Same: {len(above):,} pairs")
            self.many("#above-same")
            self.choose("Order", "most")
            self.assertIn("Same", self.text(".about"))
            self.assertFalse(self.find("#above-same").is_enabled())
            self.keys("x")
            self.assertEqual(self.decided(), before, where)
            self.assertTrue(self.in_window(".said"), where)
            self.assertEqual(self.text(".said"), f"Taken back: Same of {len(above):,} pairs, which are undecided again.")
            self.keys("x")
            self.assertEqual(self.decided(), {first: "same"}, where)
            self.keys("x")
            self.assertEqual(self.decided(), {}, where)

    def test_many_by_mouse(self):
        self.open("table")
        self.driver.execute_script("document.querySelector('.many').open = true")
        alike = self.find("#alike-same")
        n = int(alike.text.split()[1].replace(",", ""))
        at = self.progress()[0]
        # The second click of a double one would be about other pairs.
        self.see()
        self.driver.execute_script("arguments[0].scrollIntoView({ block: 'center' })", alike)
        webdriver.ActionChains(self.driver).double_click(alike).perform()
        self.assertEqual((len(self.decided()), self.progress()[0]), (n, at + n))
        self.find("#take-back").click()
        self.assertEqual((self.decided(), self.progress()[0]), ({}, at))

    def test_pairs_that_agree_as_the_one_in_view(self):
        self.open("model")
        self.driver.execute_script("document.querySelector('.many').open = true")
        self.press("j")
        data = self.data()
        keys = [record["key"] for record in data["records"]]
        by_keys = {(keys[pair["a"]], keys[pair["b"]]): [words for _, words in pair["why"]["fields"]] for pair in data["pairs"]}
        pattern = by_keys[self.shown()]
        self.see()
        self.click("#alike-different")
        self.assertEqual(self.decided(), {of: "different" for of, words in by_keys.items() if words == pattern})


class Degrees(PageTest):
    """Pairs that agree in one way are decided together, and others are not."""

    def test_by_how_much_they_differ(self):
        self.open("degrees")
        self.driver.execute_script("document.querySelector('.many').open = true")
        together = {}
        for _ in self.data()["pairs"]:
            name = self.shown()[0][:-1]
            button = self.find("#alike-same")
            if button.is_enabled():
                self.see()
                self.click("#alike-same")
            together[name] = sorted(a[:-1] for a, _ in self.decided())
            if together[name]:
                self.keys("x")
            self.assertEqual(self.decided(), {})
            self.keys("j")
        # Nobody sees how those agree that have a record which is gone.
        expected = {name: [] if name.startswith("gone") else sorted({name, name[:-1] + "a", name[:-1] + "b"} - {"moved_b"}) for name in together}
        self.assertEqual(len(together), 11)
        self.assertEqual(together, expected)

    def test_values_that_are_cut(self):
        self.open("degrees")
        marked = {}
        for _ in self.data()["pairs"]:
            marked[self.shown()[0][:-1]] = self.driver.execute_script("""
                const row = [...document.querySelectorAll('.sides tbody tr')].find((row) => row.firstChild.textContent === 'body');
                return row ? ['mark', '.moved', '.gap'].map((css) => [...row.querySelectorAll(css)].map((e) => e.textContent)).concat(row.lastChild.textContent) : null""")
            self.keys("j")
        self.assertEqual(marked["equal_a"], [[], [], [], "1"])
        # What is not shown differs, and not what is: a little, or where nobody has looked.
        for name in ("behind_a", "behind_b"):
            self.assertEqual(marked[name][:3], [["...", "..."], [], []], name)
            self.assertLess(float(marked[name][3]), 1, name)
        # A word of which the other record has all where it is not shown, and one that is shown in part.
        self.assertEqual(marked["moved_a"][:3], [[], ["Alpha"], []])


class InView(PageTest):
    def test_answers_progress_and_export(self):
        for page in PAGES:
            for width in WIDTHS:
                self.size(width)
                self.open(page)
                for css in (".saved strong", "#download", "#copy", "button.same", "button.different", "button.unsure"):
                    self.driver.execute_script("window.scrollTo(0, 0)")
                    self.assertTrue(self.in_window(css), f"{css} of {page} at {width}")
                    # Wherever one is in the section.
                    height = self.driver.execute_script("return document.querySelector('#review-body').getBoundingClientRect().height")
                    for part in (0.1, 0.5, 0.9):
                        self.driver.execute_script("window.scrollTo(0, document.querySelector('#review-body').getBoundingClientRect().top + scrollY + arguments[0])", part * (height - 250))
                        self.assertTrue(self.in_window(css), f"{css} of {page} at {width}, {part}")

    def test_progress_is_of_all_pairs(self):
        self.open("table")
        pairs = self.data()["pairs"]
        decided = sum(bool(pair["was"]) and not pair["stale"] for pair in pairs)
        self.assertEqual(self.progress(), (decided, len(pairs)))
        # Also where some of them are not gone through.
        self.assertLess(int(self.text("#pair-place").split()[-1].replace(",", "")), len(pairs) - decided)
        self.press("u")
        self.assertEqual(self.progress(), (decided + 1, len(pairs)))
        self.choose("Pairs", "decided")
        self.assertEqual(self.progress(), (decided + 1, len(pairs)))

    def test_sure_pairs_come_when_asked_for(self):
        self.open("table")
        n = lambda: int(self.text("#pair-place").split()[-1].replace(",", ""))
        undecided = [pair for pair in self.data()["pairs"] if not pair["was"] or pair["stale"]]
        doubtful = sum(pair["value"] < 0.95 for pair in undecided)
        self.assertEqual(n(), doubtful)
        self.assertEqual(self.text("#all-pairs"), f"Show all {len(undecided):,}")
        self.click("#all-pairs")
        self.assertEqual(n(), len(undecided))
        self.click("#all-pairs")
        self.assertEqual(n(), doubtful)
        # Those that have changed since they were decided are worth a look, however sure they are.
        self.open("changed")
        pairs = self.data()["pairs"]
        undecided = [pair for pair in pairs if not pair["was"] or pair["stale"]]
        shown = [pair for pair in undecided if pair["value"] < 0.95 or pair["stale"]]
        self.assertTrue(any(pair["stale"] and pair["value"] >= 0.95 for pair in shown))
        self.assertEqual(n(), len(shown))
        self.assertIn("below 0.95, or changed since they were decided", self.text(".bar-of-pair"))
        self.assertEqual(self.find("#all-pairs").is_displayed(), True)
        # Once it is decided again, it is out of the way.
        self.choose("Order", "most")
        self.driver.execute_script("document.activeElement.blur()")
        self.assertIn("changed since: decide again", self.text(".about"))
        self.press("y")
        self.choose("Order", "least")
        self.assertEqual(n(), len(shown) - 1)
        # Of a review queue each pair is worth a look.
        self.open("queue")
        values = [pair["value"] for pair in self.data()["pairs"]]
        self.assertLess(min(values), 0.95)
        self.assertGreater(max(values), 0.95)
        self.assertEqual(n(), len(values))
        self.assertFalse(self.find("#all-pairs").is_displayed())
