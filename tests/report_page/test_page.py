"""What people do on the page of a report."""

import csv
import io
import unittest

from browser import FOLDER, Keys, PageTest


class Threshold(PageTest):
    def test_counts_are_those_of_all_pairs(self):
        self.open("table")
        data = self.data()
        counts = data["counts"]
        at = counts["at"].index(0.6)
        self.assertEqual(self.text(".slide output"), "0.60")
        first = self.figures()
        self.assertEqual(first["Pairs"], f"{counts['pairs'][at]:,}")
        self.assertEqual(first["Records"], f"{counts['records'][at]:,}")
        truth = counts["truth"]
        self.assertEqual(first["Precision"], f"{truth['same'][at] / truth['known'][at]:.3f}")
        self.assertEqual(first["Recall"], f"{truth['same'][at] / truth['total']:.3f}")
        # What was decided before is held against it, too.
        decided = counts["decided"]
        self.assertEqual(first["Recall as decided"], f"{decided['same'][at] / decided['total']:.3f}")
        # The page has said the same without a script.
        self.assertIn(first["Pairs"], self.text("dl.key"))
        for place in (0, len(counts["at"]) - 1):
            self.slide(place)
            self.assertEqual(self.figures()["Pairs"], f"{counts['pairs'][place]:,}")
        self.assertIn("What lies below 0.40 was not searched", self.text("#slider-hint"))

    def test_by_keyboard(self):
        self.open("table")
        slider = self.find("#slider")
        slider.send_keys(Keys.ARROW_LEFT)
        self.assertEqual(self.text(".slide output"), "0.599")
        self.assertEqual(self.text("#histogram-chart text.cut"), "threshold 0.599")
        slider.send_keys(Keys.HOME)
        self.assertEqual(self.text(".slide output"), "0.40")
        self.assertEqual(slider.get_attribute("aria-valuetext"), "similarity 0.40")
        below = len(self.all("#histogram-chart rect.below"))
        slider.send_keys(Keys.END)
        self.assertEqual(below, 0)
        self.assertEqual(len(self.all("#histogram-chart rect.above")), 1)

    def test_the_chart_ends_at_1(self):
        for page in ("table", "model", "entities"):
            self.open(page)
            chart = self.find("#histogram-chart")
            right = float(chart.get_attribute("data-right"))
            last = self.all("#histogram-chart rect")[-1]
            self.assertAlmostEqual(float(last.get_attribute("x")) + float(last.get_attribute("width")), right, delta=1.1)
            self.assertEqual(self.all("#histogram-chart .x line")[-1].get_attribute("x1"), f"{right:.1f}")
            self.assertEqual(self.all("#histogram-chart .x text")[-1].text, "1")
            # Nothing is lost: the last bar has what is equal, too.
            values = [pair["value"] for pair in self.data()["pairs"]]
            title = last.find_element("css selector", "title").get_attribute("textContent")
            self.assertIn("0.99 to 1: ", title)
            self.assertGreaterEqual(int(title.split(": ")[1].split()[0].replace(",", "")), sum(value >= 0.99 for value in values))

    def test_decisions_made_here_count(self):
        self.open("many")
        self.assertNotIn("Precision", self.figures())
        self.press("y")
        self.assertEqual(self.figures()["Precision"], "1.000")
        self.press("n")
        self.slide(0)
        self.assertEqual(self.figures()["Precision"], "0.500")
        self.assertEqual(self.figures()["Recall"], "1.000")


class Deciding(PageTest):
    def test_by_keyboard(self):
        self.open("table")
        queue = self.text("#pair-place")
        self.assertTrue(queue.startswith("Pair 1 of "))
        for key in "ynu":
            self.press(key)
        self.assertTrue(self.text("#pair-place").startswith("Pair 4 of "))
        before = sum(pair["was"] is not None and not pair["stale"] for pair in self.data()["pairs"])
        self.assertEqual(self.text(".saved"), f"3 of {int(queue.split()[-1].replace(',', '')):,} decided, {before + 3} of 5,000 on the page, 3 here, saved in this browser.")
        self.press("k")
        self.assertIn("Unsure", self.text(".about"))
        self.assertEqual(self.find("button.unsure").get_attribute("aria-pressed"), "true")
        self.press("x")
        self.assertEqual(len(self.decided()), 2)
        self.press(Keys.ARROW_LEFT)
        self.assertIn("Different", self.text(".about"))
        # What is decided is still there later, and out of the way.
        self.open("table", fresh=False)
        self.assertEqual(self.progress()[0], before + 2)
        total = int(queue.split()[-1].replace(",", ""))
        self.assertEqual(self.text("#pair-place"), f"Pair 1 of {total - 2:,}")

    def test_by_buttons(self):
        self.open("linkage")
        self.find("button.same").click()
        self.assertEqual(self.decided(), {})
        self.read()
        self.find("button.same").click()
        self.assertIn("Pair 2 of", self.text("#pair-place"))
        # Those who do not see it are told.
        self.assertIn("Same: a rec-", self.text(".said[aria-live]"))

    def test_what_was_decided_before(self):
        self.open("table")
        before = [pair["was"] for pair in self.data()["pairs"] if pair["was"]]
        self.assertGreater(len(before), 0)
        self.choose("Pairs", "decided")
        self.assertEqual(self.text("#pair-place"), f"Pair 1 of {len(before)}")
        self.assertIn("before.", self.text(".about"))

    def test_filters(self):
        self.open("table")
        pairs = self.data()["pairs"]
        self.choose("Pairs", "all")
        for band in (8, 15):
            self.choose("Similarity", str(band))
            some = sum(band / 20 <= pair["value"] < (band + 1) / 20 for pair in pairs)
            self.assertEqual(self.text("#pair-place"), f"Pair 1 of {some:,}")
        self.choose("Similarity", "all")
        self.choose("Field", "differs:1")
        self.assertIn("<mark>", self.driver.execute_script(
            "return [...document.querySelectorAll('.sides tbody tr')].find((r) => r.firstChild.textContent === 'surname').innerHTML"))
        self.choose("Field", "all")
        cluster = next(pair["cluster"] for pair in pairs if pair["cluster"])
        self.choose("Cluster", str(cluster))
        self.assertEqual(self.text("#pair-place"), f"Pair 1 of {sum(pair['cluster'] == cluster for pair in pairs)}")
        self.assertIn(f"Cluster {cluster}.", self.text(".about"))
        self.choose("Cluster", "all")
        self.choose("Order", "most")
        self.assertEqual(float(self.text(".about .n")), float(f"{max(pair['value'] for pair in pairs):.3f}"))

    def test_records_side_by_side(self):
        self.open("table")
        rows = [row.text.split("\n")[0] for row in self.all(".sides tbody th")]
        # The signature is made of these, which come first; an empty column is left out.
        self.assertEqual(sorted(rows[:3]), ["given_name", "suburb", "surname"])
        self.assertNotIn("note", rows)
        says = [cell.text for cell in self.all(".sides tbody td.num")]
        self.assertTrue(all(says[:3]) and not any(says[3:]), says)
        self.assertEqual(len(self.all(".sides .apart")), 1)

    def test_columns_of_two_tables(self):
        self.open("linkage")
        rows = {row.find_element("tag name", "th").text: [cell.text for cell in row.find_elements("tag name", "td")] for row in self.all(".sides tbody tr")}
        # One table has no postcode, the other one no state: that is no difference.
        self.assertEqual((rows["postcode"][1], rows["state"][0]), ("\u2013", "\u2013"))
        self.assertEqual(self.all(".sides tr:has(th) mark") and [mark.text for mark in self.all(".sides tbody tr:nth-child(n+4) mark")], [])
        # Nobody knows what decided, so each field has its similarity.
        self.assertTrue(rows["surname"][2])

    def test_plain_words(self):
        # The register of the tutorial: as many pairs as it says are worth a look, and among them families.
        self.open("register")
        self.assertEqual(self.text("#pair-place"), "Pair 1 of 41")
        others = {}
        for _ in range(41):
            for name, _, bits, words in self.driver.execute_script("return [...document.querySelectorAll('#pair .why tr')].map((row) => [...row.children].map((cell) => cell.textContent))"):
                others.setdefault(name, set()).add((bits, words))
            self.keys("j")
        self.assertTrue(all("agree in" in words and "differ in" in words for _, words in others["relatives at one address"]), others)
        self.assertTrue(all(bits.startswith("\u2212") for bits, _ in others["relatives at one address"] | others["matches are rare"]))
        self.assertEqual([name for name in others if name.startswith("(")], [])

    def test_waterfall(self):
        self.open("model")
        rows = [[cell.text for cell in row.find_elements("css selector", "th, td.num")] for row in self.all("#pair .why tr")]
        bits = [float(row[1].replace("\u2212", "-")) for row in rows]
        self.assertEqual(rows[-1][0], "sum")
        self.assertAlmostEqual(sum(bits[:-1]), bits[-1], delta=0.1 * len(bits))
        self.assertEqual(self.text("#pair .why tr:last-child .words"), f"probability {self.text('.about .n')}")
        says = {row.find_element("tag name", "th").text: row.find_element("css selector", "td.num").text for row in self.all(".sides tbody tr")}
        self.assertEqual(says["surname"], dict(rows)["surname"])


class Equal(PageTest):
    """A pair has one probability, and one sum of bits, wherever it is told."""

    def told(self):
        """What is told of each pair, by its keys: where, the probability, and the bits if they are told."""
        return self.driver.execute_script("""
            const told = [];
            const of = (keys, where, value, bits) => told.push([keys.join(' '), where, value, bits || null]);
            const probability = (words) => words.match(/probability ([0-9.]+)/)[1];
            for (const pair of document.querySelectorAll('#near ~ * tbody.pair')) {
              const keys = [...pair.querySelectorAll(':scope > tr > th')].map((th) => th.textContent);
              of(keys, 'near', pair.querySelector('td.num').textContent);
              const sum = pair.querySelector('.why tr:last-child');
              if (sum) of(keys, 'why of near', probability(sum.textContent), sum.querySelector('.num').textContent);
            }
            for (const group of document.querySelectorAll('.group table.records')) {
              let keys;
              const rows = [...group.querySelector('tbody').children];
              for (const row of rows) {
                const [key, value] = [row.querySelector('th'), row.querySelector('td.num')];
                if (row.querySelector('.reason')) {
                  const sum = row.querySelector('.why tr:last-child');
                  of(keys, 'why of group', probability(sum.textContent), sum.querySelector('.num').textContent);
                  of(keys, 'summary of group', probability(row.querySelector('summary').textContent), row.querySelector('summary').textContent.match(/Why: (\\S+) bits/)[1]);
                } else if (!row.classList.contains('keep')) {
                  keys = [rows[0].querySelector('th').textContent, key.textContent].sort();
                  if (!value.querySelector('.null')) of(keys, 'group', value.textContent);
                }
              }
            }
            return told""")

    def of_pairs(self):
        """What the part that decides tells of the pair that is looked at, and the graphs of theirs."""
        return self.driver.execute_script("""
            const keys = [...document.querySelectorAll('.sides thead th[scope=col]:not(.num)')].map((th) => th.lastChild.textContent);
            const sum = document.querySelector('#pair .why tr:last-child');
            return [[keys.join(' '), 'decide', document.querySelector('.about .n').textContent, null],
              ...(sum ? [[keys.join(' '), 'why', sum.textContent.match(/probability ([0-9.]+)/)[1], sum.querySelector('.num').textContent]] : [])]""")

    def test_everywhere(self):
        for page in ("model", "entities"):
            self.open(page)
            told = self.told()
            wanted = {keys for keys, *_ in told}
            self.choose("Order", "least")
            # Keys that are pressed in a list choose from it.
            self.driver.execute_script("document.activeElement.blur()")
            n = int(self.text("#pair-place").split()[-1].replace(",", ""))
            for _ in range(min(n, 160)):
                told += [one for one in self.of_pairs() if one[0] in wanted or page == "model"]
                self.keys("j")
            for bridge in self.all(".bridges li"):
                a, b = (key.text for key in bridge.find_elements("tag name", "strong"))
                told.append([" ".join(sorted((a, b))), "graph", bridge.text.split("(")[1].split(")")[0], None])
            titles = self.driver.execute_script("return [...document.querySelectorAll('.graph line title')].map((title) => title.textContent.split(',')[0])")
            by_pair = {}
            for keys, where, value, bits in told:
                by_pair.setdefault(keys, []).append((where, value, bits and bits.replace("\u2212", "-")))
            several = 0
            for keys, all_of in by_pair.items():
                self.assertEqual(len({value for _, value, _ in all_of}), 1, f"{page}: {keys} {all_of}")
                self.assertLessEqual(len({bits for *_, bits in all_of if bits}), 1, f"{page}: {keys} {all_of}")
                several += len({where.split()[-1] for where, *_ in all_of}) > 1
            self.assertGreater(several, 8, page)
            group = self.data()["groups"]
            shown = {f"{int(edge[2] * 1000 + 1e-9) / 1000:.3f}" if edge[2] < 1 else "1" for one in group for edge in one["edges"]}
            self.assertLessEqual(set(titles), shown)


class Graph(PageTest):
    def test_who_links_the_halves(self):
        self.open("two_halves")
        self.assertEqual(len(self.all(".graph .bridge")), 1)
        self.assertIn("alone link 4 records with the other 5", self.text(".bridges"))
        best = [float(cell.text) for cell in self.all("#group tbody td.num:nth-of-type(2)")]
        self.assertEqual(best, sorted(best))
        self.click(".bridges button")
        self.assertEqual(self.text(".about .n"), "0.620")


class Entities(PageTest):
    def test_what_hangs_by_a_pair(self):
        self.open("entities")
        data = self.data()
        first = data["pairs"][0]
        number, parts = first["held"]["number"], first["held"]["parts"]
        hangs = f"Entity {number} hangs by this pair alone: without it, its {sum(parts)} records fall into {parts[0]} and {parts[1]}."
        self.assertIn(hangs, self.text(".about"))
        # The queue has doubtful pairs first, and there is no threshold to look for.
        self.assertEqual(self.text("#pair-place"), f"Pair 1 of {len(data['pairs'])}")
        self.assertFalse(self.find("#threshold").is_displayed())
        self.choose("Order", "least")
        least = min(pair["value"] for pair in data["pairs"])
        self.assertAlmostEqual(float(self.text(".about .n")), least, delta=0.001)
        self.choose("Order", "most")
        most = float(self.text(".about .n"))
        self.assertGreater(most, least)
        # All pairs of an entity, and its graph.
        self.choose("Entity", str(number))
        self.assertEqual(self.text("#pair-place"), f"Pair 1 of {sum(pair['held']['number'] == number for pair in data['pairs'])}")
        graph = data["groups"][0]
        self.assertEqual(len(self.all(".graph circle")), len(graph["members"]))
        self.assertEqual(len(self.all(".graph .bridge")), len(self.all(".bridges li")))
        self.assertGreater(len(self.all(".bridges li")), 0)
        self.click(".bridges button")
        self.assertIn(f"Entity {graph['number']} hangs by this pair alone", self.text(".about"))

    def test_decide(self):
        self.open("entities")
        self.press("n", "y")
        self.assertEqual(self.downloaded("entities").count("\n"), 3)
        self.assertIn("INSERT INTO public.kept_decision (a, b, decision, at, hash) VALUES", self.copied("entities"))


class Export(PageTest):
    def decide(self, n):
        for i in range(n):
            self.press("ynu"[i % 3])

    def test_odd_keys(self):
        self.open("odd")
        self.assertEqual(self.driver.title, "Pairs of duplicates in public.odd")
        data = self.data()
        n = len(data["pairs"])
        self.decide(n)
        rows = list(csv.DictReader(io.StringIO(self.downloaded("odd"))))
        keys = [record["key"] for record in data["records"]]
        self.assertEqual({row["a"] for row in rows} | {row["b"] for row in rows}, set(keys))
        self.assertIn("do not open this file in a spreadsheet", self.text(".said"))
        statement = self.copied("odd")
        self.assertTrue(statement.isascii())
        self.assertEqual(self.all("#review script"), [])

    def test_tables(self):
        for page in ("table", "linkage"):
            self.open(page)
            self.decide(7)
            self.assertEqual(self.downloaded(page).count("\n"), 8)
            text = self.copied(page)
            # Here it goes into another table than the report was made with.
            name = self.data()["decisions"]
            self.assertIn(f"INSERT INTO {name} (a, b, decision, at, hash) VALUES", text)
            (FOLDER / f"{page}.sql").write_text(text.replace(f"INSERT INTO {name} ", "INSERT INTO decisions "), encoding="utf-8")


class Keeping(PageTest):
    def test_not_saved(self):
        # Storage that is refused, as some browsers do for files.
        script = "Object.defineProperty(window, 'localStorage', { get() { throw new Error('refused'); } });"
        made = self.driver.execute_cdp_cmd("Page.addScriptToEvaluateOnNewDocument", {"source": script})
        try:
            self.open("two_halves", fresh=False)
            self.press("y")
            self.assertIn("Not saved", self.text(".saved"))
            leaving = "const e = new Event('beforeunload', { cancelable: true }); window.dispatchEvent(e); return e.defaultPrevented"
            self.assertTrue(self.driver.execute_script(leaving))
            self.downloaded("kept")
            self.assertFalse(self.driver.execute_script(leaving))
        finally:
            self.driver.execute_cdp_cmd("Page.removeScriptToEvaluateOnNewDocument", made)
            self.driver.get("about:blank")

    def test_another_report_has_its_own(self):
        self.open("two_halves")
        self.press("y")
        self.driver.get(f"file://{FOLDER}/odd.html")
        self.assertIn("0 of 6 decided.", self.text(".saved"))


class Page(PageTest):
    def test_five_thousand_pairs(self):
        self.open("many")
        self.assertEqual(len(self.data()["pairs"]), 5000)
        took = []
        for _ in range(3):
            self.driver.get(f"file://{FOLDER}/many.html")
            took.append(self.driver.execute_script(
                "const [n] = performance.getEntriesByType('navigation'); return n.loadEventEnd - n.startTime"))
        self.assertLess(min(took), 1000)
        # A key, from when it goes down until the page is laid out again; also when thousands of pairs have been decided, and buttons tell of how many.
        key = """const done = arguments[arguments.length - 1], took = [], keys = arguments[0];
            document.getElementById('pair-place').scrollIntoView();
            const press = () => {
              window.passed += 300;
              const begun = ticked();
              document.body.dispatchEvent(new KeyboardEvent('keydown', { key: keys[took.length], bubbles: true }));
              document.body.getBoundingClientRect();
              took.push(ticked() - begun);
              if (took.length < keys.length) setTimeout(press);
              else done(took.sort((a, b) => a - b)[took.length >> 1]);
            };
            setTimeout(press)"""
        of_keys = {}
        for state in ("at first", "with 4,000 decisions"):
            for name, keys in (("next", "jjjjjjj"), ("same", "yyyyyyy")):
                of_keys[f"{name} {state}"] = self.driver.execute_async_script(key, keys)
            if state == "at first":
                self.assertEqual(len(self.decided()), 7)
                self.driver.execute_script("document.querySelector('.many').open = true")
                self.find("#many-from").clear()
                self.find("#many-from").send_keys("0.47")
                self.see()
                self.click("#above-same")
                self.assertGreater(len(self.decided()), 3000)
                self.click("#all-pairs")
        print(f"5,000 pairs: open in {min(took):.0f} ms; " + ", ".join(f"{name} in {ms:.0f} ms" for name, ms in of_keys.items()))
        self.assertLess(max(of_keys.values()), 100, of_keys)

    def test_nothing_else_may_run(self):
        self.open("odd")
        ran = self.driver.execute_script("""
            window.ran = false;
            const s = document.createElement('script'); s.textContent = 'window.ran = true'; document.body.append(s);
            const b = document.createElement('button'); b.setAttribute('onclick', 'window.ran = true'); document.body.append(b); b.click();
            return window.ran""")
        self.assertFalse(ran)
        # That was refused, and told.
        said = [entry["message"] for entry in self.driver.get_log("browser")]
        self.assertEqual(len(said), 2, said)
        self.assertTrue(all("Content Security Policy" in message for message in said), said)
        self.assertEqual(self.all("[style]"), [])

    def test_without_scripts(self):
        self.driver.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": True})
        try:
            self.driver.get(f"file://{FOLDER}/table.html")
            self.assertFalse(self.find("#review").is_displayed())
            self.assertFalse(self.find("#threshold").is_displayed())
            self.assertTrue(self.find("#largest").is_displayed())
        finally:
            self.driver.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": False})

    def test_names_for_readers(self):
        for page in ("table", "model", "entities"):
            self.open(page)
            nameless = self.driver.execute_script("""return [...document.querySelectorAll('select, input, textarea, button')]
                .filter((e) => !e.labels?.length && !e.getAttribute('aria-label') && !e.textContent.trim()).map((e) => e.outerHTML)""")
            self.assertEqual(nameless, [])
            twice = self.driver.execute_script("const i = [...document.querySelectorAll('[id]')].map((e) => e.id); return i.filter((x, n) => i.indexOf(x) < n)")
            self.assertEqual(twice, [])

    def test_pictures(self):
        for page in ("table", "model", "linkage", "two_halves", "entities"):
            for width in (1280, 400):
                self.size(width)
                for scheme in ("light", "dark"):
                    self.scheme(scheme)
                    self.open(page)
                    self.assertEqual(self.overflow(), [], f"{page} at {width}")
                    self.shot(f"{page}-{width}-{scheme}-top")
                    self.shot(f"{page}-{width}-{scheme}-threshold", "#histogram-chart")
                    self.shot(f"{page}-{width}-{scheme}-decide", "#review")
                    self.shot(f"{page}-{width}-{scheme}-near", "#near")
                    if self.all(".graph"):
                        self.shot(f"{page}-{width}-{scheme}-graph", "#graphs")
                    # Both values of a field are side by side at any width.
                    lefts = self.driver.execute_script("""return [...document.querySelectorAll('.sides tbody tr')].filter((r) => r.querySelectorAll('td').length === 3)
                        .map((r) => [...r.querySelectorAll('td')].slice(0, 2).map((c) => c.getBoundingClientRect()).map(({ left, top }) => [left, top]))""")
                    self.assertTrue(lefts and all(a[0] < b[0] and abs(a[1] - b[1]) < 1 for a, b in lefts), f"{page} at {width}")

    def test_pictures_of_the_documents(self):
        self.open("table")
        self.picture("report", "h1", "#sizes ~ .scroll", 1120)
        self.slide(self.data()["counts"]["at"].index(0.55))
        self.picture("deciding-threshold", "#similarities", ".figures")
        self.picture("deciding-graph", "#graphs", ".bridges", 760)
        self.open("register")
        self.picture("report-why", "#near", ".records .pair", 1120)
        self.open("model")
        self.press("y", "n", "k")
        # The buttons are at the bottom of the window: it is as high as the pair and they need.
        height = self.driver.execute_script("const of = (css) => document.querySelector(css).getBoundingClientRect(); return of('#pair').bottom - of('#review-title').top + of('.bar-of-answers').height")
        self.size(1280, int(height) + 4)
        self.shot("deciding", "#review-title")
        self.size(400)
        self.scheme("dark")
        self.open("model")
        self.shot("deciding-small", "#review")


if __name__ == "__main__":
    unittest.main()
