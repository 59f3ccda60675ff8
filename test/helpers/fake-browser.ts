// A browser for tests of the crawl engine: instead of scripts, a function of the test acts on a page.
import type { LoadedPage, PageLoad, PartResponse } from '../../servers/crawler/browser/types.js';
import type { GathererOptions } from '../../servers/gatherer/index.js';

type OpenBrowser = NonNullable<GathererOptions['openBrowser']>;
type BrowserOptions = Parameters<OpenBrowser>[0];

/** Opens a browser that makes of each page what the function returns: HTML, or a whole result. */
export function fakeBrowser(
  act: (page: PageLoad, options: BrowserOptions) => Promise<string | LoadedPage>,
): OpenBrowser {
  return async (options) => ({
    async load(page) {
      const made = await act(page, options);
      return typeof made === 'string' ? { html: made, navigations: [], timedOut: false } : made;
    },
    async [Symbol.asyncDispose]() {},
  });
}

/** Requests a URL as a page does. */
export function requestOf(
  page: PageLoad,
  url: string,
  more: Partial<Parameters<PageLoad['fetch']>[0]> = {},
): Promise<PartResponse | undefined> {
  const request = { url: new URL(url, page.url).href, method: 'GET', type: 'fetch', origin: '', ...more };
  return page.fetch(request, page.signal);
}
