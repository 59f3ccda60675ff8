/** Whether the place of a store is the URL of a database, and not a directory. */
export function isDatabaseUrl(place: string): boolean {
  return /^postgres(?:ql)?:\/\//.test(place);
}
