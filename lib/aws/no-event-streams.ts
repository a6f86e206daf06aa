/**
 * Replaces `@smithy/core/event-streams` in the bundles of our own roles, which call nothing that streams
 * events: the SDK would bring it into each of them. An author's agent gets the real one.
 *
 * Names are those of the replaced package. Owns: the refusal. Does not own: which bundles use it
 * (`infra/bundle.ts`).
 */

function refuse(): never {
  throw new Error('this function calls nothing that streams events');
}

export const EventStreamSerde: () => never = refuse;
export const eventStreamSerdeProvider: () => never = refuse;
