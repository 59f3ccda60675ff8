/** The lowest version of Node that runs the kit: `engines` of package.json. */
export const LOWEST_NODE = '20.18.1';

/** Returns the sentence for a version of Node that is too old for the kit; undefined if it is not. */
export function nodeProblem(version: string): string | undefined {
  const required = LOWEST_NODE.split('.').map(Number);
  const actual = version.split('.').map(Number);
  const different = required.findIndex((part, index) => part !== actual[index]);
  if (different === -1 || Number(actual[different]) > Number(required[different])) return undefined;
  return `Node ${LOWEST_NODE} or later is required, and this is Node ${version}; newer versions are at https://nodejs.org/`;
}
