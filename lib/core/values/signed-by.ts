/**
 * How a sender signs its requests, as data.
 *
 * Owns: the form, the place of a secret. Does not own: how an author writes it
 * (`author/triggers/webhook.ts`), checking a request (`webhooks/signature.ts`).
 */

/** The place of a secret, never its value. */
export interface SecretPlace {
  /** The environment variable that has it, in `serve`, in `dev` and in tests. */
  readonly env: string;
  /** The parameter of Systems Manager that has it on AWS. */
  readonly parameter?: string;
  /** The secret of Secrets Manager that has it on AWS. */
  readonly secretsManager?: string;
  /** If that secret is JSON: the key whose value it is. */
  readonly field?: string;
}

/** HMAC with SHA-256, and the places of its parts in a request. Names of headers are in lower case. */
export interface SignedBy {
  /** The header with the signatures. */
  readonly header: string;
  /** The text before each signature. */
  readonly prefix: string;
  readonly encoding: 'hex' | 'base64';
  /** The signed text; `{body}`, `{time}` and header names in braces stand for their values. */
  readonly signed: string;
  /** The place of the time, in seconds: a header, or a part of the header with the signatures. */
  readonly time?: { readonly header: string } | { readonly prefix: string };
  /** The largest difference between that time and the receiver's. */
  readonly toleranceMs: number;
  readonly secret: SecretPlace;
  /** Whether the secret is a text, or bytes in base64. */
  readonly key: 'text' | 'base64';
}
