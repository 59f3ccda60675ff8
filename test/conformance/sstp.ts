// The mutants of the kit's own References Server, behind a proxy.
import { serveFixture } from '../servers/refererd/helpers.js';
import type { MutatedSuite } from './mutant.js';
import { runProxied } from './run-proxied.js';
import { type SstpChange, sstpLink } from './sstp-link.js';
import { SSTP_MUTANTS } from './sstp-mutants.js';
import { SSTP_VARIANTS } from './sstp-variants.js';

export const SSTP: MutatedSuite<SstpChange> = {
  suite: 'sstp',
  // Pages and URLs open many connections each, and the server counts wrong passwords.
  slow: /^(?:connection\/(?:silent|one-at-a-time|pipelined|leaves)|persistence\/refusal-arrives|pages\/.*|url\/.*)$/,
  first: [],
  mutants: SSTP_MUTANTS,
  variants: SSTP_VARIANTS,
  async start(t) {
    const { port } = (await serveFixture(t)).address;
    return (change = {}, request) =>
      runProxied('sstp', port, () => sstpLink(change), request, { weakness: change.weakness ?? {} });
  },
};
