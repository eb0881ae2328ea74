"""A browser without a window, and what every page must keep to in it."""

import base64
import json
import os
import pathlib
import unittest

from selenium import webdriver
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.ui import Select, WebDriverWait

FOLDER = pathlib.Path(__file__).resolve().parent
# Several run side by side, and each has its own browser.
OWN = FOLDER / f"browser.{os.getpid()}"
DOWNLOADS = OWN / "downloads"


def open_browser():
    DOWNLOADS.mkdir(parents=True, exist_ok=True)
    options = webdriver.ChromeOptions()
    options.binary_location = "/usr/bin/chromium"
    # In a container there may be neither user namespaces nor shared memory.
    for flag in ("headless=new", "no-sandbox", "disable-dev-shm-usage", "disable-gpu", "hide-scrollbars",
                 "disable-background-networking", "disable-component-update", "no-first-run", f"user-data-dir={OWN}/profile"):
        options.add_argument(f"--{flag}")
    options.add_experimental_option("prefs", {"download.default_directory": str(DOWNLOADS), "download.prompt_for_download": False})
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    try:
        from selenium.webdriver.chrome.service import Service
        driver = webdriver.Chrome(service=Service("/usr/bin/chromedriver"), options=options)
    except TypeError:
        driver = webdriver.Chrome(executable_path="/usr/bin/chromedriver", options=options)
    hold_clock(driver)
    return driver


def hold_clock(driver):
    """Time passes for the pages of this tab when a test says so, or else a slow machine shows a pair for long before the next key."""
    driver.execute_cdp_cmd("Page.addScriptToEvaluateOnNewDocument", {
        "source": "window.ticked = performance.now.bind(performance); window.passed = 1000; performance.now = () => window.passed"})


class PageTest(unittest.TestCase):
    """A test of pages. Whatever it does, no page may say anything on the console or ask for anything."""

    @classmethod
    def setUpClass(cls):
        cls.driver = open_browser()

    @classmethod
    def tearDownClass(cls):
        cls.driver.quit()

    def setUp(self):
        self.size(1280)
        self.scheme("light")

    def tearDown(self):
        said = [entry for entry in self.driver.get_log("browser")]
        self.assertEqual(said, [], "said on the console")
        asked = []
        for entry in self.driver.get_log("performance"):
            message = json.loads(entry["message"])["message"]
            if message["method"] == "Network.requestWillBeSent":
                asked.append(message["params"]["request"]["url"])
        allowed = ("file:", "data:", "blob:", "about:", "chrome:")
        self.assertEqual([url for url in asked if not url.startswith(allowed)], [], "asked for by a page")
        files = {url for url in asked if url.startswith("file:")}
        self.assertTrue(all(url.endswith(".html") for url in files), files)

    def size(self, width, height=900):
        self.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", {
            "width": width, "height": height, "deviceScaleFactor": 1, "mobile": False})

    def scheme(self, name):
        self.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [{"name": "prefers-color-scheme", "value": name}]})

    def open(self, page, fresh=True):
        """Opens a page, as one who was never there."""
        # All files share one store.
        address = f"file://{FOLDER}/{page}.html"
        if fresh:
            if not self.driver.current_url.startswith("file:"):
                self.driver.get(address)
            self.driver.execute_script("localStorage.clear()")
        self.driver.get(address)

    def find(self, css):
        return self.driver.find_element(By.CSS_SELECTOR, css)

    def click(self, css):
        """Clicks an element, which is brought out from under the buttons before."""
        self.driver.execute_script("arguments[0].scrollIntoView({ block: 'center', behavior: 'instant' })", self.find(css))
        self.find(css).click()

    def all(self, css):
        return self.driver.find_elements(By.CSS_SELECTOR, css)

    def text(self, css):
        return self.find(css).text

    def keys(self, *keys):
        """Presses keys, wherever the pair is, and whether anybody has looked at it."""
        webdriver.ActionChains(self.driver).send_keys(*keys).perform()

    def press(self, *keys):
        """Presses keys as whoever decides does: each pair is in view, and is looked at before."""
        for key in keys:
            self.see()
            self.keys(key)

    def see(self):
        """Brings the pair into view, and looks at it."""
        # What a key before has begun to scroll goes on for some frames.
        self.driver.execute_async_script("""const [done] = arguments, place = document.getElementById('pair-place');
            const rest = (frames) => {
              place.scrollIntoView({ behavior: 'instant' });
              const before = scrollY;
              requestAnimationFrame(() => frames === 0 ? done() : rest(scrollY === before ? frames - 1 : 3));
            };
            rest(3)""")
        self.read()

    def read(self, milliseconds=300):
        """Lets time pass for the page, if not said otherwise as long as a pair has to be in view before it can be decided."""
        # The page hears of what has been scrolled with the next frame, before whoever asks for that frame.
        self.driver.execute_async_script("""const [milliseconds, done] = arguments;
            requestAnimationFrame(() => { window.passed += milliseconds; done(); })""", milliseconds)

    def event(self, key, repeat=False, modifiers=0):
        """A key that goes down, as the browser gets it: once more while it is held, or with Alt (1), Ctrl (2), Meta (4)."""
        codes = {"Enter": 13}
        text = "\r" if key == "Enter" else "" if modifiers else key
        self.driver.execute_cdp_cmd("Input.dispatchKeyEvent", {
            "type": "keyDown" if text else "rawKeyDown", "key": key, "text": text, "autoRepeat": repeat, "modifiers": modifiers,
            "windowsVirtualKeyCode": codes.get(key, ord(key[0].upper()))})

    def release(self, key):
        self.driver.execute_cdp_cmd("Input.dispatchKeyEvent", {"type": "keyUp", "key": key})

    def decided(self):
        """What has been decided here, by the keys of each pair, as the browser keeps it."""
        made = self.driver.execute_script("""window.read ??= JSON.parse(document.getElementById('report-data').textContent);
            const made = Object.entries(localStorage).flatMap(([name, value]) => name.startsWith('bloom_ident ') ? JSON.parse(value) : []);
            return made.map(([i, verdict]) => [window.read.records[window.read.pairs[i].a].key, window.read.records[window.read.pairs[i].b].key, verdict])""")
        return {(a, b): verdict for a, b, verdict in made}

    def shown(self):
        """The keys of the pair that is looked at, as the page shows them."""
        return tuple(head.text.split()[-1] for head in self.all(".sides thead th[scope=col]:not(.num)"))

    def progress(self):
        """Of how many pairs of the page how many are decided, as the page says."""
        words = self.text(".saved").replace(",", "").replace(".", "").split()
        at = words.index("page") - 2 if "page" in words else 3
        return int(words[at - 3]), int(words[at - 1])

    def in_window(self, css):
        return self.driver.execute_script("const r = arguments[0].getBoundingClientRect(); return r.top >= 0 && r.bottom <= innerHeight && r.left >= 0 && r.right <= innerWidth", self.find(css))

    def choose(self, label, value):
        for select in self.all(".filters label"):
            if select.text.startswith(label):
                return Select(select.find_element(By.TAG_NAME, "select")).select_by_value(value)
        raise AssertionError(label)

    def slide(self, place):
        self.driver.execute_script("""const s = document.getElementById('slider'); s.value = arguments[0];
            s.dispatchEvent(new Event('input'));""", place)

    def figures(self):
        names = [e.text for e in self.all(".figures dt")]
        return dict(zip(names, [e.text for e in self.all(".figures .n")]))

    def data(self):
        return self.driver.execute_script("return JSON.parse(document.getElementById('report-data').textContent)")

    def overflow(self):
        """What is wider than the window, without what may be scrolled."""
        return self.driver.execute_script("""
            const wide = document.documentElement.clientWidth + 1;
            return [...document.body.querySelectorAll('*')].filter((e) => !e.closest('.scroll, pre, textarea') && !e.closest('.hidden')
                && e.getBoundingClientRect().width > 0 && (e.getBoundingClientRect().right > wide || e.getBoundingClientRect().left < -1))
                .map((e) => e.outerHTML.slice(0, 120)).slice(0, 5)""")

    def shot(self, name, css=None):
        """A picture of the page from the top, or from an element on."""
        if css:
            self.driver.execute_script("arguments[0].scrollIntoView()", self.find(css))
        else:
            self.driver.execute_script("window.scrollTo(0, 0)")
        self.driver.save_screenshot(str(FOLDER / "shots" / f"{name}.png"))

    def picture(self, name, first, last, width=None):
        """A picture from the top of one element to the end of another, as the documents have it."""
        x, y, w, h = self.driver.execute_script("""
            const [a, b] = [...arguments].map((css) => document.querySelector(css).getBoundingClientRect());
            return [Math.max(0, a.left - 12), a.top + scrollY - 12, document.documentElement.clientWidth, b.bottom - a.top + 24]""", first, last)
        clip = {"x": x, "y": y, "width": min(width or w, w - x), "height": h, "scale": 1}
        data = self.driver.execute_cdp_cmd("Page.captureScreenshot", {"clip": clip, "captureBeyondViewport": True})["data"]
        (FOLDER / "shots" / f"{name}.png").write_bytes(base64.b64decode(data))

    def wait(self, condition, seconds=5):
        return WebDriverWait(self.driver, seconds).until(lambda _: condition())

    def downloaded(self, page):
        """The CSV file that the page gives; it is kept."""
        file = DOWNLOADS / "decisions.csv"
        self.find("#download").click()
        self.wait(lambda: file.exists() and file.stat().st_size > 0)
        text = file.read_bytes().decode("utf-8")
        file.unlink()
        (FOLDER / f"{page}.csv").write_text(text, encoding="utf-8", newline="")
        return text

    def copied(self, page):
        """The statement that the page copies; it is kept as a file."""
        self.driver.execute_cdp_cmd("Browser.grantPermissions", {"permissions": ["clipboardReadWrite", "clipboardSanitizedWrite"]})
        self.find("#copy").click()
        self.wait(lambda: "copied" in self.text(".said"))
        text = self.driver.execute_async_script("navigator.clipboard.readText().then(arguments[0])")
        (FOLDER / f"{page}.sql").write_text(text, encoding="utf-8", newline="")
        return text


__all__ = ["FOLDER", "Keys", "PageTest", "hold_clock", "webdriver"]
