// Chromium from the system, as the tests use it.
import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { chromium, type Browser, type Locator, type Page } from 'playwright-core';

export const pages = resolve(process.env['PHAZE_PAGES'] ?? 'test-out/pages'); // where what is opened is kept

const kPlaces = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'];

export function findChromium(): string | null {
  const given = process.env['PHAZE_CHROMIUM'];
  return [given, ...kPlaces].find((path) => path !== undefined && path !== '' && existsSync(path)) ?? null;
}

export async function launch(executablePath: string): Promise<Browser> {
  return chromium.launch({
    executablePath,
    // Root has no sandbox; nothing may be asked of the network.
    args: ['--no-sandbox', '--disable-gpu', '--disable-background-networking', '--disable-component-update', '--disable-sync', '--no-first-run'],
  });
}

export interface Visit {
  page: Page;
  problems: string[]; // errors and warnings of the console, failed and foreign requests
  close(): Promise<void>;
}

export interface VisitOptions {
  width?: number;
  height?: number;
  scheme?: 'light' | 'dark';
}

export async function visit(browser: Browser, file: string, options: VisitOptions = {}): Promise<Visit> {
  const context = await browser.newContext({
    viewport: { width: options.width ?? 1280, height: options.height ?? 900 },
    colorScheme: options.scheme ?? 'light',
  });
  const page = await context.newPage();
  const problems: string[] = [];
  page.on('console', (message) => {
    if (message.type() === 'error' || message.type() === 'warning') problems.push(`${message.type()}: ${message.text()}`);
  });
  page.on('pageerror', (error) => problems.push(`exception: ${error.message}`));
  page.on('dialog', (dialog) => {
    problems.push(`dialog: ${dialog.message()}`);
    void dialog.dismiss();
  });
  page.on('request', (request) => {
    if (!request.url().startsWith('file:') && !request.url().startsWith('data:')) problems.push(`request: ${request.url()}`);
  });
  await page.goto(`file://${file}`);
  await page.waitForSelector('html[data-ready]');
  return { page, problems, close: () => context.close() };
}

// Charts are drawn as they come near the view; this brings all of them there.
export async function scrollThrough(page: Page): Promise<void> {
  await page.evaluate(async () => {
    const pause = (milliseconds: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, milliseconds));
    for (let y = 0; y < document.body.scrollHeight; y += 600) {
      window.scrollTo(0, y);
      await pause(15);
    }
    window.scrollTo(0, 0);
    await pause(50);
  });
}

// For eyes, not for the tests: taken only on request, because a browser without a display now and then never comes to an end with one.
export async function picture(target: Page | Locator, name: string): Promise<void> {
  if (!process.env['PHAZE_PICTURES']) return;
  const path = resolve(pages, `${name}.png`);
  await ('goto' in target ? target.screenshot({ path, fullPage: true }) : target.screenshot({ path }));
}
