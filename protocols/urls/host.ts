// The host in a URL, found by pattern: no URL is parsed as a whole.
/**
 * Returns the host of a URI as it is written, an IPv6 address in brackets, or the name in a `dns:` URI; '' if
 * the URI has no authority. A file of this machine (`file://localhost/`) has no host either: no server is
 * contacted for it.
 */
export function hostOf(uri: string): string {
  if (uri.startsWith('file://localhost/')) return '';
  if (uri.startsWith('dns:')) return hostOfDns(uri);
  return /^[a-z][a-z0-9+.-]*:\/\/(?:[^/?#]*@)?(\[[^\]]*\]|[^/?#:]*)/i.exec(uri)?.[1] ?? '';
}

/** Returns the name in a `dns:` URI such as `dns:host?TYPE=A`. */
export function hostOfDns(uri: string): string {
  const name = uri.slice('dns:'.length).replace(/^\/\/[^/]*\//, '');
  const end = name.search(/[?;/]/);
  return end < 0 ? name : name.slice(0, end);
}

/** Removes the brackets around the IPv6 address of a URL. */
export function withoutBrackets(host: string): string {
  return host.replace(/^\[|\]$/g, '');
}
