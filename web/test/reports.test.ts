// What `phaze` itself writes, opened in a browser. PHAZE_BINARY names the program.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { resolve } from 'node:path';
import { test } from 'node:test';
import { findChromium, launch, pages, picture, scrollThrough, visit } from './browser';

const phaze = process.env['PHAZE_BINARY'];

test('the report of a plan fills its sections', { skip: phaze ? false : 'PHAZE_BINARY is not set' }, async () => {
  mkdirSync(pages, { recursive: true });
  const file = resolve(pages, 'place.html');
  execFileSync(phaze ?? '', ['place', 'gpt2-xl', '--chip', 'tpuv4', '--devices', '64', '--global-batch', '512', '--top', '4', '--report', file]);
  const browser = await launch(findChromium() ?? '');
  const { page, problems } = await visit(browser, file);
  await scrollThrough(page);
  for (const id of ['summary', 'floor-plan', 'plans', 'about']) assert.equal(await page.locator(`section#${id}`).count(), 1, id);
  assert.ok((await page.locator('.gantt .bar').count()) > 5);
  assert.ok((await page.locator('canvas[data-chart="timeline"][data-drawn]').count()) === 1);
  await picture(page, 'place-1280');
  assert.deepEqual(problems, []);
  await browser.close();
});

test('the report of a comparison fills every section, and its table has the figures of the command', { skip: phaze ? false : 'PHAZE_BINARY is not set' }, async () => {
  mkdirSync(pages, { recursive: true });
  const folder = mkdtempSync(resolve(tmpdir(), 'phaze-compare-'));
  const space = resolve(folder, 'space.yaml');
  const database = resolve(folder, 'run.db');
  const file = resolve(pages, 'compare.html');
  writeFileSync(space, 'dimensions:\n  tensor_cores: [4, 8]\n  rows: [64, 128]\n  vector_cores: [2, 4]\n');
  const size = ['--devices', '16', '--global-batch', '32', '--seq', '128', '--microbatch', '1,2', '--tensor-parallel', '1', '--budget', '3'];
  const models = ['bert-large', 'opt-350m'];
  const answer = JSON.parse(execFileSync(phaze ?? '', ['compare', ...models, '--space', space, ...size, '--out', database, '--json']).toString());
  execFileSync(phaze ?? '', ['report', database, '-o', file]);
  rmSync(folder, { recursive: true });
  const browser = await launch(findChromium() ?? '');
  const { page, problems } = await visit(browser, file);
  await scrollThrough(page);
  for (const id of ['summary', 'space', 'parameters', 'floor-plan', 'plans', 'sensitivity', 'comparison', 'about'])
    assert.equal(await page.locator(`section#${id} h2`).count(), 1, id);
  const tables = page.locator('section#comparison table');
  assert.equal(await tables.count(), 2, 'chips of their own, and a common one');
  const methods = ['tpuv4_expert', 'tpuv4_placement', 'chip_only', 'bayesian', 'cosearch'];
  const shown = (text: string): number => Number(text.replace(/[^\d.]/g, ''));
  for (const [row, model] of models.entries())
    for (const [column, method] of methods.entries()) {
      const own = answer[model][method];
      const common = answer[model].common_chip[method] ?? own;
      for (const [t, expected] of [own, common].entries()) {
        const text = await tables.nth(t).locator('tbody tr').nth(row).locator('.compared b').nth(column).innerText();
        assert.ok(Math.abs(shown(text) / expected - 1) < 0.01, `${model} ${method}: ${text} for ${expected}`);
      }
    }
  assert.match(await tables.first().innerText(), /Expert plan on tpuv4-phaze/);
  assert.match(await tables.first().innerText(), /Geometric mean/);
  await picture(page.locator('section#comparison'), 'compare-1280');
  assert.deepEqual(problems, []);
  await browser.close();
});
