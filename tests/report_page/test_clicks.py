"""What clicks and keys do where one follows the other: none decides about another pair than the one that was read, and none is lost."""

from browser import Keys, PageTest, hold_clock, webdriver

SIZES = ((1280, 900), (400, 800))
BUTTONS = "#review .bar-of-answers button"


class Pointer(PageTest):
    def everywhere(self, *pages):
        for page in pages:
            for width, height in SIZES:
                self.size(width, height)
                self.open(page)
                self.driver.execute_script("document.querySelector('.which').open = true; document.querySelector('.many').open = true")
                yield f"{page} at {width}"

    def at(self, css):
        """The middle of a button, in the window."""
        return self.driver.execute_script("const r = arguments[0].getBoundingClientRect(); return [Math.round(r.left + r.width / 2), Math.round(r.top + r.height / 2)]", self.find(css))

    def strike(self, place, count=1):
        """A click at a place of the window, whatever is there: the first one, or that of so many in a row."""
        for kind in ("mousePressed", "mouseReleased"):
            self.driver.execute_cdp_cmd("Input.dispatchMouseEvent", {"type": kind, "x": place[0], "y": place[1], "button": "left", "clickCount": count})

    def places(self):
        return self.driver.execute_script(f"return [...document.querySelectorAll('{BUTTONS}')].map((b) => [b.textContent, b.getBoundingClientRect()]).map(([t, r]) => [t, r.left, r.top, r.width, r.height])")

    def message(self):
        return self.text(".said")


class Clicks(Pointer):
    def test_buttons_stay_where_they_are(self):
        for where in self.everywhere("register", "model", "linkage"):
            self.see()
            places = self.places()
            self.assertEqual(len(places), 8)
            move = self.at(".moves button:nth-child(2)")
            for _ in range(30):
                self.strike(move)
                self.assertEqual(self.places(), places, where)
            self.assertEqual(self.decided(), {}, where)
            self.assertIn("Pair 31 of", self.text("#pair-place"))
            # Whatever is said, and whatever line a pair has.
            self.press("y", "k", "c", "x", "x")
            self.find("#download").click()
            self.assertEqual(self.places(), places, where)
            # No answer or export lies under a move or under another answer.
            for _ in range(3):
                self.strike(self.at("#take-back"))
                self.read()
            self.assertNotIn("copied", self.message())

    def test_another_button_under_the_pointer(self):
        for where in self.everywhere("register"):
            self.see()
            place = self.at("button.different")
            # As in a window so low that the buttons go with the pair: one is elsewhere, and comes to this place.
            self.driver.execute_script("document.querySelector('button.different').style.visibility = 'hidden'")
            self.strike(place)
            self.driver.execute_script("document.querySelector('button.different').style.visibility = ''")
            self.read()
            self.strike(place)
            self.assertEqual(self.decided(), {}, where)
            self.assertIn("another button has come under the pointer", self.message())
            self.strike(place)
            self.assertEqual(list(self.decided().values()), ["different"], where)

    def test_second_click_of_two(self):
        for where in self.everywhere("register"):
            self.see()
            first = self.shown()
            place = self.at("button.same")
            self.strike(place)
            self.read()
            self.strike(place, 2)
            self.assertEqual(self.decided(), {first: "same"}, where)
            self.assertIn("Nothing has been decided", self.message())
            self.strike(place)
            self.assertEqual(len(self.decided()), 2, where)

    def test_keys_after_a_click(self):
        for where in self.everywhere("register"):
            self.see()
            first = self.shown()
            self.strike(self.at("button.same"))
            self.see()
            self.keys(Keys.SPACE)
            self.see()
            self.keys(Keys.ENTER)
            self.assertEqual(self.decided(), {first: "same"}, where)
            # Who goes through the buttons by keys keeps theirs.
            self.driver.execute_script("arguments[0].focus({ preventScroll: true })", self.find("button.unsure"))
            self.see()
            self.keys(Keys.ENTER)
            self.see()
            self.keys(Keys.ENTER)
            self.assertEqual(sorted(self.decided().values()), ["same", "unsure", "unsure"], where)

    def test_buttons_do_as_keys(self):
        for where in self.everywhere("register"):
            self.driver.execute_script("document.querySelector('#graphs').scrollIntoView()")
            self.strike(self.at(".moves button:nth-child(2)"))
            self.assertIn("Here is the pair", self.message())
            self.assertIn("Pair 1 of", self.text("#pair-place"))
            self.strike(self.at(".moves button:nth-child(2)"))
            self.assertIn("Pair 2 of", self.text("#pair-place"))


class Many(Pointer):
    def test_pairs_that_nobody_has_seen(self):
        for where in self.everywhere("table", "model"):
            # The pair was never in view for long enough.
            self.driver.execute_script("document.querySelector('#graphs, .help').scrollIntoView()")
            self.driver.execute_script("arguments[0].click()", self.find("#alike-same"))
            self.assertEqual(self.decided(), {}, where)
            self.assertIn("Here is the pair", self.message())
            self.read(299)
            self.driver.execute_script("arguments[0].click()", self.find("#alike-same"))
            self.assertEqual(self.decided(), {}, where)
            self.assertIn("has only just come into view", self.message())
            # It may be out of view again once it has been seen.
            self.read(1)
            n = int(self.find("#alike-same").text.split()[1].replace(",", ""))
            self.click("#alike-same")
            self.assertEqual(len(self.decided()), n, where)

    def test_twice(self):
        for where in self.everywhere("table", "model"):
            for css in ("#alike-same", "#above-same"):
                button = self.find(css)
                self.see()
                self.driver.execute_script("arguments[0].focus({ preventScroll: true })", button)
                before = len(self.decided())
                n = int(button.text.split()[1].replace(",", ""))
                self.keys(Keys.ENTER, Keys.ENTER)
                self.assertEqual(len(self.decided()), before + n, f"{css} of {where}")
            # A later click, while the pair that is new is out of view.
            self.driver.execute_script("document.querySelector('#graphs, .help').scrollIntoView(); arguments[0].scrollIntoView({ block: 'start' })", self.find(".many"))
            self.see()
            self.click("#alike-different")
            before = len(self.decided())
            self.driver.execute_script("arguments[0].scrollIntoView()", self.find(".many .answers"))
            self.read()
            if not self.driver.execute_script("const r = document.querySelector('.sides').getBoundingClientRect(); return r.top >= -1"):
                self.driver.execute_script("arguments[0].click()", self.find("#alike-different"))
                self.assertEqual(len(self.decided()), before, where)


class Steps(Pointer):
    def test_forget_what_was_read(self):
        for where in self.everywhere("register"):
            self.press("y", "n", "k")
            before = self.decided()
            self.keys("k", "c")
            self.assertEqual(self.decided(), before, where)
            self.assertIn("Nothing has been decided", self.message())
            self.read()
            self.keys("c")
            self.assertEqual(len(self.decided()), 1, where)

    def test_the_same_again_is_no_step(self):
        for where in self.everywhere("register"):
            first = self.shown()
            self.press("y", "k", "y")
            self.assertIn("That stood already. Same: ", self.message())
            self.assertIn("Pair 2 of", self.text("#pair-place"))
            self.keys("x")
            self.assertEqual((self.decided(), self.shown()), ({}, first), where)

    def test_take_back_keeps_the_filters(self):
        for where in self.everywhere("table"):
            chosen = lambda: [select.get_attribute("value") for select in self.all(".filters select")]
            bands = [option.get_attribute("value") for option in self.all(".filters label:nth-child(2) option")][1:]
            self.choose("Similarity", bands[1])
            self.driver.execute_script("document.activeElement.blur()")
            self.press("y")
            first = list(self.decided())[0]
            self.keys("j", "x")
            self.assertEqual((chosen()[1], self.shown()), (bands[1], first), where)
            self.assertNotIn("beside", self.message())
            # It is none of those that are shown now.
            self.press("n")
            self.choose("Similarity", bands[2])
            self.choose("Pairs", "decided")
            self.driver.execute_script("document.activeElement.blur()")
            before = chosen()
            self.keys("x")
            self.assertEqual((chosen(), self.shown(), self.decided()), (before, first, {}), where)
            self.assertIn("It is shown beside the pairs that you have chosen", self.message())

    def test_judged_before(self):
        self.open("table")
        self.choose("Pairs", "decided")
        self.driver.execute_script("document.activeElement.blur()")
        self.press("c")
        self.assertIn("Judged before: press another answer to change it", self.message())

    def test_the_end(self):
        for where in self.everywhere("odd"):
            n = len(self.data()["pairs"])
            self.press("j", *"y" * (n - 1))
            self.assertIn(f"That was the last of {n}. 1 skipped is left: go back.", self.message())
            self.assertEqual(self.driver.execute_script("const s = document.querySelector('.said'); return s.scrollHeight <= s.clientHeight + 1"), True, where)
            self.keys("j")
            self.assertIn(f"That was the last of {n}", self.message())
            self.press(*"k" * (n - 1))
            self.press("k")
            self.assertEqual(self.message(), "This is the first one.")
            self.press("n", *"j" * (n - 2))
            self.press("j")
            self.assertIn(f"That was the last of {n}. Download them, or choose others above.", self.message())
            self.assertEqual(self.text(".saved"), f"{n} of {n} decided, {n} here, saved in this browser.")

    def test_what_was_said_goes(self):
        self.open("table")
        for act in (lambda: self.click("#all-pairs"), lambda: self.choose("Order", "most")):
            self.press("y")
            self.assertIn("Same: ", self.message())
            act()
            self.assertEqual(self.message(), "")

    def test_keys_after_a_choice(self):
        for where in self.everywhere("table"):
            # The list itself is drawn by the browser: this is what the page gets of it.
            self.driver.execute_script("""const select = document.querySelector('.filters label:last-child select');
                select.dispatchEvent(new PointerEvent('pointerdown', { bubbles: true }));
                select.focus({ preventScroll: true });
                select.value = 'least';
                select.dispatchEvent(new Event('change'))""")
            self.press("y")
            self.assertEqual(list(self.decided().values()), ["same"], where)
            # By keys one chooses on.
            self.driver.execute_script("""const select = document.querySelector('.filters label:last-child select');
                select.focus({ preventScroll: true });
                select.dispatchEvent(new Event('change'))""")
            self.assertTrue(self.driver.execute_script("return document.activeElement.matches('select')"), where)

    def test_the_list_of_keys(self):
        for where in self.everywhere("model"):
            self.see()
            self.keys("?")
            self.assertTrue(self.in_window(".help"), where)
            # And above the buttons.
            self.assertTrue(self.driver.execute_script("return document.querySelector('.help').getBoundingClientRect().bottom <= document.querySelector('.bar-of-answers').getBoundingClientRect().top + 1"), where)


class Tabs(Pointer):
    def test_two_tabs(self):
        self.open("register")
        first = self.driver.current_window_handle
        self.press("y")
        self.driver.switch_to.new_window("tab")
        hold_clock(self.driver)
        try:
            self.size(1280)
            self.open("register", fresh=False)
            second = self.driver.current_window_handle
            self.press("n")
            self.driver.switch_to.window(first)
            self.wait(lambda: self.text(".saved").startswith("2 of 41"))
            # What the other tab has decided about the pair in view is seen.
            self.assertIn("Different", self.text(".about"))
            self.press("j", "u")
            self.assertEqual(sorted(self.decided().values()), ["different", "same", "unsure"])
            self.driver.switch_to.window(second)
            self.wait(lambda: "3 here" in self.text(".saved"))
            # A step of this tab is taken back, and nothing of the other one.
            self.keys("x")
            self.assertEqual(sorted(self.decided().values()), ["same", "unsure"])
            self.press("n")
            self.driver.switch_to.window(first)
            self.wait(lambda: "3 here" in self.text(".saved"))
            self.press("k", "k", "y")
            self.driver.switch_to.window(second)
            self.wait(lambda: list(self.decided().values()).count("same") == 2)
            self.read()
            self.keys("x")
            self.assertIn("decided otherwise in another tab", self.message())
            self.assertEqual(sorted(self.decided().values()), ["same", "same", "unsure"])
        finally:
            self.driver.switch_to.window(second)
            self.driver.close()
            self.driver.switch_to.window(first)
