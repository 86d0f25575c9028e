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
// A browser without a display stops answering now and then. A run in which it did not answer is repeated once; one that fails is not.
const kMostMilliseconds = 270_000;
const run = () => {
  const { status, error, stdout } = spawnSync(process.execPath, ['--test', ...names.map((name) => `${root}test-out/${name}.test.mjs`)], {
    stdio: ['ignore', 'pipe', 'inherit'],
    encoding: 'utf8',
    env: { ...process.env, PHAZE_CHROMIUM: chromium },
    timeout: kMostMilliseconds,
  });
  console.log(stdout);
  return { status: status ?? 1, unanswered: error?.code === 'ETIMEDOUT' || (status !== 0 && stdout.includes("name: 'TimeoutError'")) };
};
let result = run();
if (result.unanswered) {
  console.log('the browser did not answer in time; once more');
  result = run();
}
process.exit(result.status);
