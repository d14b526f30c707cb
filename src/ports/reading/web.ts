/** Pages of the web, for the tool `web_fetch`. */

export interface WebPage {
  /** The address of the last response; differs from the request after a redirect on one host. */
  url: string;
  status: number;
  /** Without parameters: `text/html`. */
  type: string;
  /** HTML as readable text, other text as it is; empty if the body is not text. */
  text: string;
  /** Bytes of the body that were read. */
  bytes: number;
  /** The body was longer than the limit. */
  cut: boolean;
  /** The page leads to another host, which is not followed. */
  redirect?: string;
}

export interface Web {
  /**
   * One GET request. Redirects are followed on the same host only. Never rejects because of the
   * address or the network, and never reaches an address inside the network under a public name.
   */
  get(url: string, signal?: AbortSignal): Promise<WebPage | { problem: string }>;
}
