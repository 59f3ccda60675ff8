/** @throws Error that names what differs, with the beginnings of both values */
export function expect(what: string, actual: unknown, expected: unknown): void {
  const [found, wanted] = [JSON.stringify(actual), JSON.stringify(expected)];
  if (found !== wanted)
    throw new Error(`${what}: ${found?.slice(0, 200)} instead of ${wanted?.slice(0, 200)}`);
}
