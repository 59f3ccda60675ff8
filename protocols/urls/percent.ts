/**
 * Undoes the percent escapes of a URL. Each escaped byte becomes one UTF-16 unit from 0 to 255; other
 * characters stay, so the result has one unit for each byte if the rest of the text is ASCII or Latin-1.
 */
export function unescapeBytes(text: string): string {
  return text.replace(/%([0-9a-f]{2})/gi, (_, digits: string) =>
    String.fromCharCode(Number.parseInt(digits, 16)),
  );
}
