/** CRAWL-9.10: the cost of a URI for its queue's budget, fixed when it is queued. */
export type CostPolicy = (uri: string, via?: string) => number;

export type CostPolicyName = 'zero' | 'unit' | 'wag' | 'anti-calendar';

/** Words in the URIs of calendars, anywhere and in any case, or a year between non-digits. */
const CALENDAR = /calendar|year|month|day|date|viewcal|event|yr=|calendrier|jour|\D(?:19|20)\d\d\D/i;

/** CRAWL-9.10: the policies by name; `unit` is the default. */
export const COST_POLICIES: Readonly<Record<CostPolicyName, CostPolicy>> = {
  zero: () => 0,
  unit: () => 1,
  wag: (uri, via) => {
    const mark = uri.indexOf('?');
    if (mark < 0) return 1;
    // A page that links to itself with another query probably has more such links.
    return via?.startsWith(uri.slice(0, mark)) === true ? 3 : 2;
  },
  'anti-calendar': (uri) => (CALENDAR.test(uri) ? 2 : 1),
};
