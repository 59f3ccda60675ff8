// The security headers of every reply.
/** The resources that the pages of an application load beyond their style sheet. */
export interface HeaderPolicy {
  /** Whether the pages load scripts of this server. */
  readonly scripts?: boolean;
  /** Whether the pages load images of this server. */
  readonly images?: boolean;
  /** Whether scripts open connections to this server. */
  readonly connections?: boolean;
  /**
   * Referrer-Policy. Pages with forms that change something need `same-origin`: with `no-referrer`, browsers
   * send the form without its origin.
   */
  readonly referrer: 'no-referrer' | 'same-origin';
  /** Further headers, of this application only. */
  readonly more?: Readonly<Record<string, string>>;
}

/**
 * Headers of every reply: pages load only files of their own server, run no inline code, and cannot be framed.
 */
export function securityHeaders(policy: HeaderPolicy): Readonly<Record<string, string>> {
  const sources = [
    "default-src 'none'",
    "style-src 'self'",
    ...(policy.scripts === true ? ["script-src 'self'"] : []),
    ...(policy.images === true ? ["img-src 'self'"] : []),
    ...(policy.connections === true ? ["connect-src 'self'"] : []),
    "form-action 'self'",
    "base-uri 'none'",
    "frame-ancestors 'none'",
  ];
  return {
    ...policy.more,
    'content-security-policy': sources.join('; '),
    'x-content-type-options': 'nosniff',
    'referrer-policy': policy.referrer,
    'cross-origin-opener-policy': 'same-origin',
  };
}
