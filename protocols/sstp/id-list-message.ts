import { NO_BODY, type SstpHeader, type SstpMessage } from './message.js';
import { HEADERS } from './registry.js';

/**
 * A reply whose run of `HEADER_URI_ID` lines was read directly as numbers. It is still the abstract message:
 * {@link headers} builds all headers in the order of the wire on demand.
 */
export class IdListMessage implements SstpMessage {
  /**
   * @param others the headers outside the run
   * @param runAt how many of `others` precede the run
   */
  constructor(
    readonly code: number,
    readonly others: readonly SstpHeader[],
    readonly ids: Uint32Array,
    readonly runAt: number,
    readonly body: Uint8Array = NO_BODY,
  ) {}

  get headers(): readonly SstpHeader[] {
    const run = Array.from(this.ids, (id): SstpHeader => [HEADERS.uriId.name, String(id)]);
    return [...this.others.slice(0, this.runAt), ...run, ...this.others.slice(this.runAt)];
  }
}
