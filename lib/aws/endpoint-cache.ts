/**
 * Replaces `@aws-sdk/endpoint-cache` in a function, because that package brings a library of data structures
 * along. It caches endpoints that a service has named, for clients that ask for them; ours do not.
 *
 * Names and forms are those of the replaced package.
 */

interface Endpoint {
  readonly Address: string;
  readonly CachePeriodInMinutes: number;
}

interface Kept {
  readonly Address: string;
  readonly Expires: number;
}

export class EndpointCache {
  readonly #endpoints = new Map<string, readonly Kept[]>();

  getEndpoint(key: string): string | undefined {
    return this.get(key)?.[0]?.Address;
  }

  get(key: string): readonly Kept[] | undefined {
    const current = this.#endpoints.get(key)?.filter(({ Expires }) => Date.now() < Expires) ?? [];
    return current.length === 0 ? undefined : current;
  }

  set(key: string, endpoints: readonly Endpoint[]): void {
    const kept = endpoints.map(({ Address, CachePeriodInMinutes }) => ({
      Address,
      Expires: Date.now() + CachePeriodInMinutes * 60_000,
    }));
    this.#endpoints.set(key, kept);
  }

  delete(key: string): void {
    this.#endpoints.delete(key);
  }

  has(key: string): boolean {
    return this.#endpoints.has(key);
  }

  clear(): void {
    this.#endpoints.clear();
  }
}
