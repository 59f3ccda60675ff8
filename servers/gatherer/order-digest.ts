import type { CrawlOrderConfig } from '../crawler/order/order.js';

/** What summaries depend on in an order (G-110); nothing for the defaults, so that older digests stay valid. */
export function orderDigest(order: CrawlOrderConfig): string[] {
  return [...embedSettings(order), ...fetcherSettings(order)];
}

/** Which references of a document are stored. */
function embedSettings({ settings, sheets }: CrawlOrderConfig): string[] {
  const chosen = [settings.embeds, ...sheets.map((sheet) => sheet.settings.embeds ?? '')];
  return chosen.every((embeds) => embeds === '' || embeds === 'frames') ? [] : [`embeds ${chosen.join(' ')}`];
}

/** Whether scripts of pages run. */
function fetcherSettings({ settings, sheets }: CrawlOrderConfig): string[] {
  const chosen = [settings.fetcher, ...sheets.map((sheet) => sheet.settings.fetcher ?? '')];
  return chosen.includes('browser') ? [`fetcher ${chosen.join(' ')}`] : [];
}
