// The page in a real browser, with a made-up document as large as the whole 2024 space.
import assert from 'node:assert/strict';
import { mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { resolve } from 'node:path';
import { after, before, test } from 'node:test';
import type { Browser, Page } from 'playwright-core';
import { findChromium, launch, pages, picture, scrollThrough, visit } from './browser';
import { fullSpace } from './document';
import { paste } from './paste';

const template = readFileSync(resolve(process.env['PHAZE_PAGE'] ?? 'dist/index.html'), 'utf8');
const axe = createRequire(import.meta.url).resolve('axe-core/axe.min.js');
const full = resolve(pages, 'full-space.html');
const small = resolve(pages, 'small-space.html'); // for what does not depend on the number of chips
const kSmall = 3000;
let browser: Browser;

before(async () => {
  mkdirSync(pages, { recursive: true });
  writeFileSync(full, paste(template, fullSpace(['llama2-7b', 'gpt2-xl'])));
  writeFileSync(small, paste(template, fullSpace(['llama2-7b', 'gpt2-xl'], kSmall)));
  browser = await launch(findChromium() ?? '');
});
after(() => browser.close());

// Pixels of a canvas, or shapes of an SVG, that are not background.
async function marks(page: Page, name: string): Promise<number> {
  return page.locator(`[data-chart="${name}"]`).first().evaluate((element) => {
    const shapes = element.querySelectorAll('svg path, svg rect').length + (element instanceof SVGElement ? element.querySelectorAll('rect').length : 0);
    if (shapes > 0) return shapes;
    const canvases = element instanceof HTMLCanvasElement ? [element] : [...element.querySelectorAll('canvas')];
    let painted = 0;
    for (const canvas of canvases) {
      const data = canvas.getContext('2d')?.getImageData(0, 0, canvas.width, canvas.height).data ?? [];
      for (let i = 3; i < data.length; i += 4) if ((data[i] as number) > 0) ++painted;
    }
    return painted;
  });
}

async function middle(page: Page, selector: string): Promise<{ x: number; y: number; width: number; height: number }> {
  const element = page.locator(selector).first();
  await element.scrollIntoViewIfNeeded();
  await page.waitForTimeout(100);
  const box = await element.boundingBox();
  assert.ok(box, selector);
  return box;
}

test('a page of the whole space is below 5 MB and interactive within 2 s', async () => {
  assert.ok(statSync(full).size < 5e6, `${statSync(full).size} bytes`);
  // The machine may be busy with something else: the best of three counts.
  let ready = Infinity;
  for (let attempt = 0; attempt < 3 && ready >= 2000; ++attempt) {
    const { page, problems, close } = await visit(browser, full);
    await page.waitForSelector('[data-chart="space"][data-drawn]');
    ready = Math.min(ready, await page.evaluate(() => performance.getEntriesByName('phaze-ready')[0]?.startTime ?? Infinity));
    assert.deepEqual(problems, []);
    await close();
  }
  console.log(`ready after ${Math.round(ready)} ms, ${statSync(full).size} bytes`);
  assert.ok(ready < 2000, `ready after ${ready} ms`);
});

test('every section is there and every chart has marks', async () => {
  const { page, problems, close } = await visit(browser, full);
  await scrollThrough(page);
  for (const id of ['summary', 'space', 'parameters', 'floor-plan', 'plans', 'sensitivity', 'comparison', 'about'])
    assert.equal(await page.locator(`section#${id} h2`).count(), 1, id);
  for (const name of ['space', 'heat-map', 'parallel', 'memory', 'timeline', 'plan']) assert.ok((await marks(page, name)) > 20, name);
  assert.ok((await page.locator('.die rect').count()) > 3);
  assert.ok((await page.locator('.gantt .bar').count()) > 5);
  assert.deepEqual(problems, []);
  await close();
});

test('hovering a chip names it, clicking shows its details', async () => {
  const { page, close } = await visit(browser, full);
  const box = await middle(page, '[data-chart="space"]');
  const before = await page.locator('.details').innerText();
  // Many small chips have low scores: near the lower left, most spots hold one.
  let seen = '';
  for (let step = 0; step < 40 && seen === ''; ++step) {
    await page.mouse.move(box.x + box.width * (0.12 + 0.008 * step), box.y + box.height * 0.86);
    seen = await page.locator('.tip-title:visible').first().innerText({ timeout: 1000 }).catch(() => '');
  }
  assert.match(seen, /tensor.*vector/);
  await page.mouse.down();
  await page.mouse.up();
  await page.waitForFunction((old) => document.querySelector<HTMLElement>('.details')?.innerText !== old, before, { timeout: 5000 });
  assert.ok((await page.locator('.details').innerText()).includes('Tensor cores'));
  await close();
});

test('dragging selects chips, and only those inside the rectangle', async () => {
  const { page, close } = await visit(browser, small);
  const box = await middle(page, '[data-chart="space"]');
  await page.mouse.move(box.x + box.width * 0.3, box.y + box.height * 0.3);
  await page.mouse.down();
  await page.mouse.move(box.x + box.width * 0.5, box.y + box.height * 0.5, { steps: 8 });
  await page.mouse.move(box.x + box.width * 0.7, box.y + box.height * 0.8, { steps: 8 });
  await page.mouse.up();
  const heading = page.locator('.selection h3');
  await heading.filter({ hasText: 'selected' }).waitFor({ timeout: 3000 });
  const count = Number((await heading.innerText()).replace(/\D/g, ''));
  assert.ok(count > 10 && count < kSmall, `${count} selected`);
  await close();
});

test('axes and colour can be chosen', async () => {
  const { page, problems, close } = await visit(browser, small);
  await middle(page, '[data-chart="space"]');
  await page.getByLabel('Horizontal').first().selectOption('tdp_watts');
  await page.getByLabel('Vertical').first().selectOption('macs');
  await page.getByLabel('Colour').selectOption('global_buffer_bytes');
  await page.waitForTimeout(200);
  assert.match(await page.locator('#space .legend').innerText(), /128.MiB/);
  await page.getByRole('button', { name: 'zooms' }).click();
  const box = await middle(page, '[data-chart="space"]');
  await page.mouse.move(box.x + box.width / 2, box.y + box.height / 2);
  await page.mouse.wheel(0, -300);
  await page.waitForTimeout(200);
  assert.ok((await marks(page, 'space')) > 100);
  assert.deepEqual(problems, []);
  await close();
});

test('the keyboard reaches the charts: along the front, and through the timeline', async () => {
  const { page, close } = await visit(browser, small);
  await middle(page, '[data-chart="space"]');
  await page.locator('[data-chart="space"]').focus();
  await page.keyboard.press('ArrowLeft');
  const first = await page.locator('.details').innerText();
  await page.keyboard.press('ArrowLeft');
  assert.notEqual(await page.locator('.details').innerText(), first);
  const timeline = page.locator('canvas[data-chart="timeline"]').first();
  await timeline.scrollIntoViewIfNeeded();
  await timeline.focus();
  await page.keyboard.press('+');
  await page.waitForTimeout(60);
  const zoomed = await page.locator('.timeline [aria-live]').first().innerText();
  await page.keyboard.press('ArrowRight');
  await page.waitForTimeout(60);
  assert.match(zoomed, /Showing .* to .* of/);
  assert.notEqual(await page.locator('.timeline [aria-live]').first().innerText(), zoomed);
  await close();
});

test('the timeline names the pass under the pointer', async () => {
  const { page, close } = await visit(browser, small);
  const box = await middle(page, 'canvas[data-chart="timeline"]');
  await page.mouse.move(box.x + box.width * 0.4, box.y + box.height * 0.5);
  await page.waitForTimeout(60);
  assert.match(await page.locator('.timeline .tip-title').first().innerText(), /(Forward|Backward), stage \d/);
  await close();
});

test('models, layers and themes can be switched', async () => {
  const { page, problems, close } = await visit(browser, small);
  await page.getByRole('button', { name: 'gpt2-xl' }).click();
  assert.ok(await page.locator('.model-name', { hasText: 'gpt2-xl' }).isVisible());
  const before = await page.locator('.model:not([hidden]) .gantt li').count();
  await page.locator('.model:not([hidden])').getByLabel('Layer and pass').selectOption({ index: 0 });
  assert.notEqual(await page.locator('.model:not([hidden]) .gantt li').count(), before);
  await page.getByRole('button', { name: /dark theme/ }).click();
  assert.equal(await page.locator('html').getAttribute('data-theme'), 'dark');
  assert.deepEqual(problems, []);
  await close();
});

for (const [width, scheme] of [
  [1280, 'light'],
  [1280, 'dark'],
  [360, 'light'],
  [360, 'dark'],
] as const)
  test(`${width} px, ${scheme}: nothing overflows, no serious accessibility issue`, async () => {
    const { page, problems, close } = await visit(browser, scheme === 'light' ? full : small, { width, scheme });
    await scrollThrough(page);
    assert.equal(await page.locator('html').getAttribute('data-theme'), scheme);
    const overflow = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
    assert.ok(overflow <= 0, `${overflow} px too wide`);
    await picture(page, `explorer-${width}-${scheme}`);
    // The policy of the page forbids foreign scripts, so axe comes in through the debugger.
    await page.evaluate(readFileSync(axe, 'utf8'));
    const found = await page.evaluate(async () => {
      const run = (window as unknown as { axe: { run(options: object): Promise<{ violations: { id: string; impact: string; nodes: { html: string }[] }[] }> } }).axe;
      const { violations } = await run.run({ resultTypes: ['violations'] });
      return violations.filter((v) => v.impact === 'serious' || v.impact === 'critical').map((v) => `${v.id}: ${v.nodes[0]?.html ?? ''}`);
    });
    assert.deepEqual(found, []);
    assert.deepEqual(problems, []);
    await close();
  });

test('text from files stays text', async () => {
  const hostile = '</script><script>alert(1)</script><img src=x onerror=alert(2)>"\'&lt;{{PHAZE_REPORT_DATA}}';
  const document = fullSpace([hostile, `<b>${hostile}`], 400);
  document.title = hostile;
  document.subtitle = hostile;
  document.command = hostile;
  document.settings = [[hostile, hostile]];
  if (document.chip) document.chip.name = hostile;
  for (const model of document.models)
    for (const schedule of model.layer_schedules ?? []) {
      schedule.layer = hostile;
      for (const op of schedule.ops) op.name = hostile;
    }
  for (const outcome of document.space?.outcomes.values ?? []) outcome.label = hostile;
  for (const column of document.space?.columns ?? []) column.label = hostile;
  for (const neighbour of document.insight?.sensitivity ?? []) neighbour.parameter = neighbour.limit = neighbour.to = hostile;
  const file = resolve(pages, 'hostile.html');
  writeFileSync(file, paste(template, document));
  const { page, problems, close } = await visit(browser, file);
  await scrollThrough(page);
  const box = await middle(page, '[data-chart="space"]');
  for (let step = 0; step < 12; ++step) {
    await page.mouse.move(box.x + box.width * (0.2 + 0.05 * step), box.y + box.height * (0.85 - 0.04 * step));
    await page.waitForTimeout(20);
  }
  for (const chart of ['heat-map', 'memory', 'parallel']) {
    const target = await middle(page, `[data-chart="${chart}"]`);
    await page.mouse.move(target.x + target.width * 0.5, target.y + target.height * 0.5);
    await page.waitForTimeout(60);
  }
  assert.equal(await page.locator('h1').innerText(), hostile);
  assert.equal(await page.locator('img, b script, main script').count(), 0);
  assert.deepEqual(problems, []);
  await close();
});

test('a damaged document is refused in words', async () => {
  const file = resolve(pages, 'damaged.html');
  writeFileSync(file, template);
  const { page, close } = await visit(browser, file);
  assert.match(await page.locator('main').innerText(), /missing or damaged/);
  await close();
});

test('it prints: all models, in light, without controls', async () => {
  const { page, problems, close } = await visit(browser, small, { scheme: 'dark' });
  const paper = await page.pdf({ format: 'A4', printBackground: true });
  assert.ok(paper.length > 50_000);
  writeFileSync(resolve(pages, 'printed.pdf'), paper);
  assert.deepEqual(problems, []);
  await close();
});
