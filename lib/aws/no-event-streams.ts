/**
 * Replaces `@smithy/core/event-streams` in the bundles of our own roles, which never stream events, although
 * the SDK would include it in each. An author's agent gets the real one.
 *
 * Names are those of the replaced package. Owns: the refusal. Does not own: which bundles use it
 * (`infra/bundle.ts`).
 */

function refuse(): never {
  throw new Error('this function calls nothing that streams events');
}

export const EventStreamSerde: () => never = refuse;
export const eventStreamSerdeProvider: () => never = refuse;
