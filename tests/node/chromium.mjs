// Drives Chromium for tests/integration/browser.py: one JSON object per line comes in, one goes out
// for each.
//
//   {"id": 7, "do": "click", "page": "a", "selector": "button"}  ->  {"id": 7, "value": null}  or  {"id": 7, "error": "..."}
//
// A context is one browser with its own cookies; a page is one of its tabs. The tests choose the
// names of both.
import fs from 'node:fs';
import readline from 'node:readline';
import {chromium} from 'playwright-core';

const [, , executablePath, limitMs] = process.argv;
const limit = Number(limitMs);
// Chromium has no sandbox as root.
const browser = await chromium.launch(
  {executablePath, timeout: 2 * limit, args: process.getuid() === 0 ? ['--no-sandbox'] : []});
process.stdout.write(JSON.stringify({id: -1, value: browser.version()}) + '\n');
const contexts = new Map();
const pages = new Map();

function watch(page, record) {
  page.on('console', message => record.console.push(message.text()));
  page.on('pageerror', error => record.console.push(String(error)));
  page.on('response', answer => record.answers.push(
    {method: answer.request().method(), url: answer.url(), status: answer.status(), headers: answer.headers()}));
}

const verbs = {
  async open({context, javascript = true, site, scheme = 'light', width = 1280}) {
    const made = await browser.newContext(
      {javaScriptEnabled: javascript, baseURL: site, colorScheme: scheme, viewport: {width, height: 800}});
    made.setDefaultTimeout(limit);
    contexts.set(context, made);
  },
  async close({context}) {
    await contexts.get(context).close();
    contexts.delete(context);
  },
  async tab({context, page}) {
    const record = {page: await contexts.get(context).newPage(), console: [], answers: []};
    watch(record.page, record);
    pages.set(page, record);
  },
  async cookies({context}) { return contexts.get(context).cookies(); },
  async go({page, path}) {
    // Chromium may still be loading another page (its own page for a lost connection, or the target
    // of a form that it sends again), and reports that as an interruption.
    for (let tries = 1; ; ++tries)
      try {
        const answer = await pages.get(page).page.goto(path);
        return answer && answer.status();
      } catch (error) {
        if (tries === 20 || !/interrupted by another navigation|net::ERR_ABORTED/.test(String(error))) throw error;
        await new Promise(resolve => setTimeout(resolve, 250));
      }
  },
  async fill({page, fields}) {
    for (const [name, value] of Object.entries(fields))
      await pages.get(page).page.fill(`[name="${name}"]`, value);
  },
  async click({page, selector, times = 1}) {
    // Does not wait for the navigation: a user who presses twice does not wait for an answer
    // either.
    await pages.get(page).page.click(selector, {clickCount: times, delay: 20, noWaitAfter: true});
  },
  async reload({page}) { await pages.get(page).page.reload(); },
  async back({page}) { await pages.get(page).page.goBack(); },
  async run({page, script}) { return pages.get(page).page.evaluate(script); },
  async html({page, content}) { await pages.get(page).page.setContent(content); },
  async count({page, selector}) { return pages.get(page).page.locator(selector).count(); },
  async attribute({page, selector, name}) { return pages.get(page).page.locator(selector).first().getAttribute(name); },
  async text({page, selector = 'body'}) { return pages.get(page).page.locator(selector).first().innerText(); },
  // Waits until the tab shows a heading, after any redirects.
  async shows({page, heading}) {
    const shown = pages.get(page).page;
    try {
      await shown.locator('h1', {hasText: heading}).waitFor();
    } catch (error) {
      throw new Error(`${error}; the page shows: ${await shown.locator('body').first().innerText({timeout: 1000})}`);
    }
    return shown.url();
  },
  async heading({page}) { return pages.get(page).page.locator('h1').first().innerText(); },
  async url({page}) { return pages.get(page).page.url(); },
  async answers({page}) { return pages.get(page).answers; },
  async console({page}) { return pages.get(page).console; },
  async press({page, key}) { await pages.get(page).page.keyboard.press(key); },
  async choose({page, selector, value}) { await pages.get(page).page.selectOption(selector, value); },
  // The rules of axe-core that the page breaks, each with the elements that do.
  async axe({page}) {
    const shown = pages.get(page).page;
    await shown.evaluate(fs.readFileSync(new URL('node_modules/axe-core/axe.min.js', import.meta.url), 'utf8'));
    const found = await shown.evaluate('axe.run()');
    return found.violations.map(rule => `${rule.id}: ${rule.help}: ${rule.nodes.map(node => node.target).join('; ')}`);
  },
  async picture({page, path}) { await pages.get(page).page.screenshot({path, fullPage: true}); },
};

for await (const line of readline.createInterface({input: process.stdin})) {
  const {id, do: verb, ...given} = JSON.parse(line);
  // Not awaited: several tests share one browser.
  Promise.resolve().then(() => verbs[verb](given)).then(
    value => process.stdout.write(JSON.stringify({id, value: value ?? null}) + '\n'),
    error => process.stdout.write(JSON.stringify({id, error: String(error)}) + '\n'));
}
await browser.close();
