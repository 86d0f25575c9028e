// As `phaze` puts a document into the page (src/phaze/report/explorer_page.cc).
export function paste(page: string, document: unknown): string {
  const text = JSON.stringify(document, (_key, value: unknown) => (typeof value === 'number' && !Number.isFinite(value) ? null : value)).replaceAll('<', '\\u003c');
  return page.replace('{{PHAZE_REPORT_DATA}}', () => text);
}
