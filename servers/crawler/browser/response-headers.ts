/** Headers of the transfer, which the browser does not see, and of cookies, which the crawl keeps. */
const REMOVED = new Set([
  'connection',
  'content-encoding',
  'content-length',
  'keep-alive',
  'link',
  'proxy-authenticate',
  'refresh',
  'set-cookie',
  'strict-transport-security',
  'trailer',
  'transfer-encoding',
  'upgrade',
]);

/** Returns the headers of a response that a browser gets with the decoded body. */
export function browserHeaders(headers: Readonly<Record<string, string>>): Record<string, string> {
  // Values with bytes that the browser refuses would fail the whole response.
  return Object.fromEntries(
    Object.entries(headers).filter(([name, value]) => !REMOVED.has(name) && /^[\t\x20-\x7e]*$/.test(value)),
  );
}
