// Bundles the tests (they share types and code with the page) and runs them with node's own test runner.
// Exit code 77 says that what they need is not installed.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync } from 'node:fs';
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const chromium = [process.env.PHAZE_CHROMIUM, '/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'].find((path) => path && existsSync(path));
if (!chromium) {
  console.log('skipped: Chromium is not installed (apt-get install chromium, or set PHAZE_CHROMIUM)');
  process.exit(77);
}
const require = createRequire(`${root}node_modules/vite/package.json`);
const esbuild = require('esbuild');
mkdirSync(`${root}test-out`, { recursive: true });
const names = ['pareto', 'format', 'explorer', 'reports'];
await esbuild.build({
  absWorkingDir: root,
  entryPoints: names.map((name) => `test/${name}.test.ts`),
  outdir: 'test-out',
  outExtension: { '.js': '.mjs' },
  bundle: true,
  platform: 'node',
  format: 'esm',
  target: 'node18',
  packages: 'external',
  logLevel: 'warning',
});
// A browser without a display stops answering now and then, for good. A run that hangs is repeated once; one that fails is not.
const kMostMilliseconds = 270_000;
const run = () =>
  spawnSync(process.execPath, ['--test', ...names.map((name) => `${root}test-out/${name}.test.mjs`)], {
    stdio: 'inherit',
    env: { ...process.env, PHAZE_CHROMIUM: chromium },
    timeout: kMostMilliseconds,
  });
let result = run();
if (result.error?.code === 'ETIMEDOUT') {
  console.log(`no answer after ${kMostMilliseconds / 1000} s; once more`);
  result = run();
}
process.exit(result.status ?? 1);
