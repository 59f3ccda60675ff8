/** Limits of a decoder (S-38). The octets of a line are counted without its end. */
export interface SstpLimits {
  readonly maxStartLineBytes: number;
  readonly maxHeaderLineBytes: number;
  /** All header lines of a message, their ends included. */
  readonly maxHeaderBytes: number;
  readonly maxHeaderLines: number;
  readonly maxBodyBytes: number;
}

/** S-38. No request of a References Server has a body; other bodies are skipped. */
export const REQUEST_LIMITS: SstpLimits = {
  maxStartLineBytes: 256,
  maxHeaderLineBytes: 8192,
  maxHeaderBytes: 65_536,
  maxHeaderLines: 64,
  maxBodyBytes: 65_536,
};

/** S-38: a client accepts at least 100 000 header lines; the body is that of a configuration list. */
export const REPLY_LIMITS: SstpLimits = {
  maxStartLineBytes: 256,
  maxHeaderLineBytes: 8192,
  maxHeaderBytes: 32 * 1024 * 1024,
  maxHeaderLines: 1_000_000,
  maxBodyBytes: 1_048_576,
};
