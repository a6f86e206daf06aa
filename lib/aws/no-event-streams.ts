/**
 * Stands for `@smithy/core/event-streams` in the bundles of our own roles, which call nothing that streams
 * events: the SDK would bring it into each of them. An author's agent gets the real one.
 */

export class EventStreamSerde {
  constructor() {
    throw new Error('this function calls nothing that streams events');
  }
}

export const eventStreamSerdeProvider = (): never => {
  throw new Error('this function calls nothing that streams events');
};
