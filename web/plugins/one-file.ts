// Puts the bundled script and style sheet into the page itself, so that the result is one file that opens from disk.
//
// The page may run that one script and nothing else: its hash goes into the content security policy, so neither an
// inline handler nor a second script could run even if text from a file were ever pasted unescaped. The policy also
// forbids every connection.
import { createHash } from 'node:crypto';
import type { Plugin, Rollup } from 'vite';

function policy(script: string): string {
  const hash = createHash('sha256').update(script, 'utf8').digest('base64');
  return `default-src 'none'; script-src 'sha256-${hash}'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'`;
}

function isAsset(file: Rollup.OutputAsset | Rollup.OutputChunk): file is Rollup.OutputAsset {
  return file.type === 'asset';
}

export function oneFile(): Plugin {
  return {
    name: 'one-file',
    enforce: 'post',
    generateBundle(_options, bundle) {
      const files = Object.values(bundle);
      const page = files.filter(isAsset).find((file) => file.fileName.endsWith('.html'));
      const scripts = files.filter((file): file is Rollup.OutputChunk => file.type === 'chunk');
      const styles = files.filter(isAsset).filter((file) => file.fileName.endsWith('.css'));
      if (!page || scripts.length !== 1) throw new Error('expected one page with one script');
      // A script element ends at the first closing tag, wherever it stands.
      const script = `\n${(scripts[0]?.code ?? '').trim()}\n`.replaceAll('</script', '<\\/script');
      const style = styles.map((file) => String(file.source).trim()).join('\n');
      page.source = String(page.source)
        .replace(/<script type="module"[^>]*><\/script>\s*/, '')
        .replace(/<link rel="stylesheet"[^>]*>\s*/, '')
        .replace('</head>', () => `<meta http-equiv="Content-Security-Policy" content="${policy(script)}">\n<style>\n${style}\n</style>\n</head>`)
        .replace('</body>', () => `<script type="module">${script}</script>\n</body>`);
      for (const file of [...scripts, ...styles]) delete bundle[file.fileName];
    },
  };
}
