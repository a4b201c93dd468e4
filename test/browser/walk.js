// A person at the dashboard, played by Chromium. Each test is a promise; one page is open at a time.
//   BASE      where patra serves           TOKEN     one that may operate
//   CHROMIUM  the browser                  PICTURES  a folder for screenshots
'use strict';
const { execFileSync } = require('node:child_process');
const { strict: assert } = require('node:assert');
const fs = require('node:fs');
const path = require('node:path');
const { chromium } = require('playwright-core');

const AXE = fs.readFileSync(require.resolve('axe-core/axe.min.js'), 'utf8');
const { BASE, TOKEN, CHROMIUM, PICTURES } = process.env;
const SOURCE = 'crossref', BUS = 'works-webhook';

const patra = (...words) => execFileSync('patra', [...words, '--json'], { encoding: 'utf8' });
const state = (...words) => JSON.parse(patra(...words));

let browser;
const faults = []; // of any page, at any time

async function open(options = {}) {
    const context = await browser.newContext({ viewport: { width: 1280, height: 900 }, ...options });
    const page = await context.newPage();
    page.on('pageerror', (error) => faults.push(`${page.url()}: ${error.message}`));
    page.on('console', (message) => {
        if (message.type() === 'error' && !/status of 40[1-4]/.test(message.text()))
            faults.push(`${page.url()}: ${message.text()}`);
    });
    return page;
}

async function go(page, target) {
    const reply = await page.goto(BASE + target);
    assert.equal(reply.status(), 200, target);
}

async function signIn(page) {
    await go(page, '/login');
    await page.getByLabel('Token').fill(TOKEN);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByRole('heading', { level: 1, name: 'Now' }).waitFor();
}

// What axe objects to, rule by rule, with the elements.
async function judge(page, label) {
    await page.evaluate(AXE);
    const found = await page.evaluate(async () => (await axe.run(document, {
        runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'] })).violations
        .map((rule) => `${rule.id}: ${rule.nodes.slice(0, 3).map((node) => node.html.slice(0, 120)).join(' | ')}`));
    assert.deepEqual(found, [], label);
}

// Unfolds an operation and does it; the page that follows says what came of it.
async function operate(page, name, fill = {}, button = name) {
    const act = page.locator('details.act').filter({ has: page.getByText(name, { exact: true }) }).first();
    await act.locator('summary').click();
    for (const [label, value] of Object.entries(fill)) {
        const field = act.getByLabel(label, { exact: true });
        if (value === true)
            await field.check();
        else
            await field.fill(value);
    }
    const command = await act.locator('code[data-command]').innerText();
    await act.getByRole('button', { name: button, exact: true }).click();
    await page.locator('#outcome').waitFor();
    return { command, text: await page.locator('#outcome').innerText() };
}

const troubled = () => state('task', 'list', '--status', 'failed')[0].id;
const record = () => state('record', 'list', SOURCE).records[0].id;

function boards() {
    const failed = troubled(), id = encodeURIComponent(record());
    const run = state('task', 'show', String(failed)).runs[0].id;
    return { now: '/', runs: '/runs', plan: '/runs/plan/2', task: `/runs/task/${failed}`, run: `/runs/run/${run}`,
        batch: `/runs/batch/${run}/1`, cursors: '/cursors', cursor: `/cursors/${SOURCE}?from=2026-03-01&to=2026-03-06`,
        preview: `/preview/${SOURCE}?from=2026-02-01&to=2026-02-02`, gate: '/gate', events: '/events',
        subscription: `/events/${BUS}`, errors: '/errors', quarantined: '/quarantine/1', records: '/records',
        list: `/records/${SOURCE}`, record: `/records/${SOURCE}/${id}`, why: `/why/${SOURCE}/${id}`, login: '/login' };
}

const TESTS = {
    async 'without JavaScript every board has its headings and tables'() {
        const page = await open({ javaScriptEnabled: false });
        for (const [name, target] of Object.entries(boards())) {
            await go(page, target);
            assert.equal(await page.locator('main h1').count(), 1, name);
            if (!['preview', 'login', 'record', 'quarantined'].includes(name))
                assert.ok(await page.locator('main table').count() > 0, `${name}: a table`);
            for (const table of await page.locator('table').all())
                assert.ok(await table.locator('thead th[scope=col]').count() > 1, `${name}: heads`);
        }
        await go(page, '/errors');
        await page.getByLabel('Source').selectOption(SOURCE);
        await page.getByRole('button', { name: 'Show' }).click();
        assert.match(page.url(), /source=crossref/, 'a filter is a form');
        await page.context().close();
    },

    async 'without JavaScript a form operates, too'() {
        const page = await open({ javaScriptEnabled: false });
        await signIn(page);
        await go(page, '/gate');
        const done = await operate(page, `Pause ${SOURCE}`, { Reason: 'no script' });
        assert.match(done.text, /paused/);
        assert.equal(state('pause')[0].by, 'token browser');
        patra('resume', SOURCE);
        await page.context().close();
    },

    async 'from the first page to the failing request in two clicks'() {
        const page = await open();
        await go(page, '/');
        await page.locator('#missing tbody th a').first().click();
        await page.getByRole('heading', { name: 'Where it failed' }).waitFor();
        await page.locator('.failing a').first().click();
        await page.getByRole('heading', { name: 'Request', exact: true }).waitFor();
        assert.match(await page.locator('pre').first().innerText(), /crossref\/works/, 'the request');
        assert.match(await page.locator('p.failing').innerText(), /400/, 'what the source said');
        await page.context().close();
    },

    async 'a red piece of a strip names its task and error, and leads there'() {
        const page = await open();
        await go(page, boards().cursor);
        const piece = page.locator('.strip a:has(rect.failed)').first();
        assert.match(await piece.getAttribute('aria-label'), /MISSING, 2026-03-03.*task \d+ FAILED.*status 400/);
        await piece.focus();
        await page.keyboard.press('Enter');
        await page.getByRole('heading', { name: 'Where it failed' }).waitFor();
        await page.context().close();
    },

    async 'a window drawn over a strip is a dry run of a backfill'() {
        const before = state('plan', 'list').length;
        const page = await open();
        await go(page, boards().cursor);
        const box = await page.locator('.strip svg').first().boundingBox();
        await page.mouse.move(box.x + box.width * 0.3, box.y + 14);
        await page.mouse.down();
        await page.mouse.move(box.x + box.width * 0.6, box.y + 14, { steps: 5 });
        await page.mouse.up();
        const dialog = page.getByRole('dialog');
        await dialog.waitFor();
        await judge(page, 'dry run');
        assert.match(await dialog.innerText(), /Nothing was written/);
        assert.match(await dialog.innerText(), /patra trigger crossref backfill --from 2026-03-0\d/);
        await page.keyboard.press('Escape');
        await dialog.waitFor({ state: 'detached' });
        assert.equal(state('plan', 'list').length, before, 'no plan was made');
        await page.context().close();
    },

    async 'Now: a trigger, and its command as it is typed'() {
        const page = await open();
        await signIn(page);
        const done = await operate(page, `Trigger ${SOURCE}`, { From: '2026-01-01', To: '2026-01-02' }, 'Dry run');
        assert.equal(done.command, `patra trigger ${SOURCE} harvest --from 2026-01-01 --to 2026-01-02`);
        assert.match(done.text, /sliceCount/);
        await page.getByRole('link', { name: 'Back' }).click();
        await page.getByRole('heading', { level: 1, name: 'Now' }).waitFor();
        await page.context().close();
    },

    async 'Now: what others do is seen without loading the page again'() {
        const page = await open();
        await go(page, '/');
        await page.getByText('Live', { exact: false }).first().waitFor();
        patra('pause', SOURCE, '--reason', 'seen <b>live</b>');
        await page.getByText('seen <b>live</b>').waitFor({ timeout: 20000 });
        patra('resume', SOURCE);
        await page.getByText('seen <b>live</b>').waitFor({ state: 'detached', timeout: 20000 });
        await page.context().close();
    },

    async 'Runs: a task is cancelled, and a plan'() {
        const page = await open();
        await signIn(page);
        const queued = state('task', 'list', '--status', 'queued')[0];
        await go(page, `/runs/task/${queued.id}`);
        assert.match((await operate(page, `Cancel task ${queued.id}`, { Reason: 'a test' })).text, /cancelled/);
        const plan = state('plan', 'list')[0].id;
        await go(page, `/runs/plan/${plan}`);
        assert.match((await operate(page, `Cancel plan ${plan}`)).text, /cancelled/);
        assert.equal(state('task', 'list', '--status', 'queued').length, 0);
        await page.context().close();
    },

    async 'Cursors: a cursor is reset'() {
        const page = await open();
        await signIn(page);
        await go(page, `/cursors/${SOURCE}`);
        const done = await operate(page, `Reset cursor of ${SOURCE}`, { To: '2026-03-02', Reason: 'a test' });
        assert.match(done.command, /patra cursor reset crossref --yes --to 2026-03-02 --reason 'a test'/);
        assert.match(JSON.stringify(state('cursor', 'list')), /"2026-03-02T00:00:00Z"/);
        await page.context().close();
    },

    async 'Gate: a source is paused and resumed'() {
        const page = await open();
        await signIn(page);
        await go(page, '/gate');
        await operate(page, `Pause ${SOURCE}`, { Reason: 'it\'s a test' });
        assert.equal(state('pause')[0].reason, 'it\'s a test');
        await page.getByRole('link', { name: 'Back' }).click();
        await operate(page, `Resume ${SOURCE}`);
        assert.deepEqual(state('pause'), []);
        await page.context().close();
    },

    async 'Events: parked keys are tried again, and a subscription is held'() {
        const page = await open();
        await signIn(page);
        await go(page, '/events');
        await page.getByRole('link', { name: BUS }).first().click();
        assert.ok(await page.locator('#parked tbody tr').count() > 0, 'keys are parked');
        assert.match((await operate(page, `Try parked keys of ${BUS}`, { 'every key': true })).text, /keys/);
        await page.getByRole('link', { name: 'Back' }).click();
        assert.match((await operate(page, `Pause ${BUS}`, { Reason: 'a test' })).text, /paused/);
        await page.getByRole('link', { name: 'Back' }).click();
        assert.match((await operate(page, `Resume ${BUS}`)).text, /resumed/);
        await page.context().close();
    },

    async 'Errors: the latest failing batch is a click away, and a quarantined record is dropped'() {
        const page = await open();
        await signIn(page);
        await go(page, '/errors');
        assert.match(await page.locator('#errors tbody tr').first().innerText(), /status/);
        await page.locator('#quarantine tbody th a').first().click();
        const done = await operate(page, 'Drop quarantined 1', { Note: 'a test' });
        assert.match(done.command, /patra quarantine drop --yes 1 --note 'a test'/);
        assert.equal(state('quarantine', 'list').length, 0);
        await page.context().close();
    },

    async 'Records and Why: a record is found, explained, and requested again'() {
        const page = await open(), id = record();
        await signIn(page);
        await go(page, '/why');
        await page.getByLabel('Record', { exact: true }).fill(id);
        await page.getByRole('button', { name: 'Why?' }).click();
        await page.getByRole('heading', { name: 'Who reads it' }).waitFor();
        await page.getByRole('link', { name: 'The record' }).click();
        await page.getByRole('heading', { name: 'As it was received' }).waitFor();
        const done = await operate(page, `Request again ${id}`);
        assert.match(done.text, /UPDATE/);
        await page.context().close();
    },

    async 'a keyboard reaches everything, and sees where it is'() {
        const page = await open();
        await go(page, '/');
        await page.keyboard.press('Tab');
        assert.equal(await page.evaluate(() => document.activeElement.className), 'skip');
        const seen = await page.evaluate(() => getComputedStyle(document.activeElement).outlineStyle);
        assert.equal(seen, 'solid');
        await page.keyboard.press('Enter');
        assert.equal(await page.evaluate(() => document.activeElement.id), 'main');
        await page.context().close();
    },

    async 'who signs out only reads'() {
        const page = await open();
        await signIn(page);
        await page.getByRole('button', { name: 'Sign out' }).click();
        await go(page, '/gate');
        await page.getByText(`Pause ${SOURCE}`).first().click();
        assert.equal(await page.locator('details.act form').count(), 0);
        assert.equal(await page.locator('details[open] code').innerText(), `patra pause ${SOURCE}`);
        await page.context().close();
    },

    async 'at two widths, light and dark, axe objects to nothing and nothing is cut off'() {
        for (const width of [1280, 390]) {
            for (const colorScheme of ['light', 'dark']) {
                const page = await open({ viewport: { width, height: 900 }, colorScheme });
                await signIn(page);
                for (const [name, target] of Object.entries(boards())) {
                    await go(page, target);
                    await judge(page, `${name} ${width} ${colorScheme}`);
                    assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth),
                        `${name} ${width}: wider than the window`);
                    await page.screenshot({ path: path.join(PICTURES, `${name}-${width}-${colorScheme}.png`), fullPage: true });
                }
                await page.context().close();
            }
        }
    },

    async 'no page had an error, or asked for what its policy forbids'() {
        assert.deepEqual(faults, []);
    },
};

async function main() {
    browser = await chromium.launch({ executablePath: CHROMIUM, args: ['--no-sandbox', '--headless=new'] });
    const wanted = process.argv.slice(2);
    let passed = 0, failed = 0;
    for (const [name, test] of Object.entries(TESTS)) {
        if (wanted.length > 0 && !wanted.some((word) => name.includes(word)))
            continue;
        try {
            await test();
            passed++;
            console.log(`ok   ${name}`);
        } catch (error) {
            failed++;
            console.log(`FAIL ${name}\n     ${String(error.stack).split('\n').slice(0, 30).join('\n     ')}`);
        }
    }
    await browser.close();
    console.log(`${passed} passed, ${failed} failed, 0 skipped`);
    process.exit(failed > 0 ? 1 : 0);
}

main();
