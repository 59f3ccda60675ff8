// What to type when files on the disk are damaged.

/** A clause that names the commands for a damaged store. */
export function adviceFor(directory: string): string {
  return `\`harvest store check ${directory}\` lists the damage, \`harvest store repair ${directory}\` saves what can be read`;
}
