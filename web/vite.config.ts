import { defineConfig } from 'vite';
import { oneFile } from './plugins/one-file';

export default defineConfig({
  plugins: [oneFile()],
  // Licences of what is bundled stay in the page.
  esbuild: { legalComments: 'inline' },
  build: { target: 'es2022', cssCodeSplit: false, assetsInlineLimit: 0, modulePreload: false, chunkSizeWarningLimit: 2000 },
});
