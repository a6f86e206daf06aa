/** The answer to a caller who sends a message to an execution. */

/** A message that was accepted: it is written, and a step takes it once its turn has come. */
export interface MessageAccepted {
  readonly executionId: string;
  /** The id of the message; a message repeated with it counts once. */
  readonly id: string;
  /** The order of acceptance among all messages to the execution, from 1. */
  readonly order: number;
  /** When it was accepted, in ms since 1970. */
  readonly at: number;
}
