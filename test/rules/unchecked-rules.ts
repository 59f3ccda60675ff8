// MUSTs that no test, case or vector checks, each with the reason.

/** The reason by the number of the rule. */
export const UNCHECKED: Readonly<Record<string, string>> = {
  'R-6': 'an absence: the server has no code that writes a database',
  'C-27': 'a sum of other checks, which are tested by their own numbers',
  'E-1': 'a sum of the steps, which are tested by their own numbers',
  'E-3': 'an order, which the rules of its steps imply: E-25, E-28, E-136',
  'E-78': 'three steps, which are tested by their own numbers: E-6, E-61',
  'E-112': 'the identity of objects is tested as SOIF-6.6',
  'CRAWL-3.1': 'a step of the computation whose results CRAWL-3.10 lists, all of which are tested',
  'CRAWL-3.2': 'a step of the computation whose results CRAWL-3.10 lists, all of which are tested',
  'CRAWL-3.3': 'a step of the computation whose results CRAWL-3.10 lists, all of which are tested',
  'CRAWL-3.4': 'a step of the computation whose results CRAWL-3.10 lists, all of which are tested',
  'CRAWL-3.5': 'a step of the computation whose results CRAWL-3.10 lists, all of which are tested',
  'CRAWL-3.6': 'a step of the computation whose results CRAWL-3.10 lists, all of which are tested',
  'CRAWL-3.7': 'a step of the computation whose results CRAWL-3.10 lists, all of which are tested',
  'CRAWL-5.4.1': 'a part of the transitions of CRAWL-5.4, which are tested under that number',
  'CRAWL-5.4.2': 'a part of the transitions of CRAWL-5.4, which are tested under that number',
  'CRAWL-5.6.1': 'a part of the transitions of CRAWL-5.4, which are tested under that number',
  'CRAWL-5.6.3': 'a part of the transitions of CRAWL-5.4, which are tested under that number',
  'CRAWL-10.1.1': 'tested under CRAWL-10.1, with the converted scopes',
  'CRAWL-10.1.2': 'tested under CRAWL-10.1, with the converted scopes',
  'CRAWL-13.1.1': 'tested under CRAWL-13.1',
  'CRAWL-13.1.3': 'tested under CRAWL-13.1',
  'CRAWL-13.2.8': 'tested under CRAWL-13.2, by comparison with a naive matcher',
  'CRAWL-13.2.9': 'tested under CRAWL-13.2, by comparison with a naive matcher',
  'CRAWL-13.3.11': 'tested under CRAWL-13.3',
};
