// What `phaze` itself writes, opened in a browser. PHAZE_BINARY names the program.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { resolve } from 'node:path';
import { test } from 'node:test';
import { findChromium, launch, scrollThrough, visit } from './browser';

const phaze = process.env['PHAZE_BINARY'];
const shots = resolve(process.env['PHAZE_SHOTS'] ?? 'screenshots');

test('the report of a plan fills its sections', { skip: phaze ? false : 'PHAZE_BINARY is not set' }, async () => {
  mkdirSync(shots, { recursive: true });
  const file = resolve(shots, 'place.html');
  execFileSync(phaze ?? '', ['place', 'gpt2-xl', '--chip', 'tpuv4', '--devices', '64', '--global-batch', '512', '--top', '4', '--report', file]);
  const browser = await launch(findChromium() ?? '');
  const { page, problems } = await visit(browser, file);
  await scrollThrough(page);
  for (const id of ['summary', 'floor-plan', 'plans', 'about']) assert.equal(await page.locator(`section#${id}`).count(), 1, id);
  assert.ok((await page.locator('.gantt .bar').count()) > 5);
  assert.ok((await page.locator('canvas[data-chart="timeline"][data-drawn]').count()) === 1);
  await page.screenshot({ path: resolve(shots, 'place-1280.png'), fullPage: true });
  assert.deepEqual(problems, []);
  await browser.close();
});
