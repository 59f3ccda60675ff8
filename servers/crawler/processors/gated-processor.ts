import type { Processor, ProcessResult } from '../chains.js';
import type { CrawlUri } from '../crawl-uri.js';
import type { DecideSequence, DecideSubject } from '../decide/index.js';

/** CRAWL-11.1, 10.2.1: a processor that runs unless its decide rules reject the URI. */
export class GatedProcessor implements Processor {
  readonly name: string;
  readonly stores: boolean;

  constructor(
    readonly processor: Processor,
    readonly rules: DecideSequence,
  ) {
    this.name = processor.name;
    this.stores = processor.stores === true;
  }

  process(uri: CrawlUri): Promise<ProcessResult> | ProcessResult {
    return this.rules.decide(subjectOf(uri)) === 'REJECT' ? 'proceed' : this.processor.process(uri);
  }
}

/** Returns what the rules can see of a URI in flight. */
function subjectOf(uri: CrawlUri): DecideSubject {
  const { via, pathFromSeed } = uri.entry.uri;
  const { fetched } = uri;
  return {
    uri: uri.url,
    hops: pathFromSeed,
    seed: pathFromSeed === '',
    ...(via === '' ? {} : { via }),
    classKey: uri.entry.classKey,
    ...(uri.sourceTag === '' ? {} : { sourceTag: uri.sourceTag }),
    ...(uri.status === 0 ? {} : { status: uri.status }),
    contentType: fetched?.contentType,
    contentLength: fetched === undefined ? undefined : uri.size,
    identicalDigest: uri.annotations.includes('duplicate:digest'),
  };
}
