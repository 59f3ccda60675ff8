// Says on the pages that documents are still being gathered.
import { type Html, html } from '../../web/html.js';

/** A run that gathers what this broker collects. */
export interface Gathering {
  /** Documents that are done, whatever their outcome. */
  readonly done: number;
  /** Documents that are known, the done ones included; it grows while links are found. */
  readonly known: number;
}

/** One sentence for people, e.g. `Gathering: 171 of 250 documents.` */
export function gatheringText({ done, known }: Gathering): string {
  if (known === 0) return 'Gathering has begun.';
  const [part, whole] = [done, Math.max(done, known)].map((count) => count.toLocaleString('en'));
  return `Gathering: ${part} of ${whole} ${known === 1 ? 'document' : 'documents'}.`;
}

/**
 * Renders the line of progress. The page's script keeps it up to date; without one it shows the state when the
 * page was made.
 *
 * @param source the path of the state as JSON
 */
export function renderGathering(gathering: Gathering | undefined, source: string): Html | '' {
  if (gathering === undefined) return '';
  return html`<p class="note" role="status" id="gathering" data-source="${source}"><span>${gatheringText(gathering)}</span> What has been gathered so far can be searched.</p>
`;
}
