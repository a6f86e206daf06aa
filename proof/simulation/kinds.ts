/**
 * Counts rare events of the protocol that, besides faults, a run must contain.
 *
 * Owns: the list. As with faults, a run without an event proves nothing about it.
 */

export const KINDS = [
  // Tolerated failures: certainly not done, undone, decided by a person, possibly left in effect.
  'toleratedCertain',
  'toleratedCompensated',
  'toleratedAnswered',
  'toleratedLeft',
  // Tolerated failures by the kind of their step.
  'toleratedChild',
  'toleratedItem',
  /** Several parts of a list had failed items. */
  'failedInParts',
  /** A step that replaces a failed one was begun. */
  'fallback',
  // A child was tried again: by the recovery, at a person's request, with another input, and with success.
  'triedAgain',
  'triedAsAsked',
  'triedInAnotherWay',
  'triedAndDone',
  /** Items of a list of workflows, by their ends. */
  'listedDone',
  'listedFailed',
  'reminded',
  /** A reminder of an open incident, and of one whose deadline a pause has moved. */
  'remindedOfIncident',
  'remindedAfterPause',
  /** A failed execution was retried, also with another input of its failed step. */
  'executionRetried',
  'retriedWithInput',
  /** An attempt, a try or a round began with a person's input; and, counted alone, a round did. */
  'inputGiven',
  'roundGiven',
  /** The time (`within`) of a step was over: of an agent's step, and of one with child executions. */
  'overTime',
  'overTimeChildren',
  /**
   * On-failure steps: done; failed for certain; failed but possibly done; run again after a second end; and
   * an execution that is retried as soon as they are over.
   */
  'followedUp',
  'followedUpInVain',
  'mayHaveFollowedUp',
  'followedUpAgain',
  'goesOnLater',
  /**
   * A next stage began after the previous one was undone, or without an undo because that one has no effect.
   */
  'stageAfterUndo',
  'stageLeft',
  /**
   * Accepted work. It was accepted: at all, late, found after a crash. It was probed again. It ended: done,
   * never to be done, not in time. An undo stopped it, or had to wait for it.
   */
  'accepted',
  'acceptedLate',
  'acceptedFound',
  'askedTwice',
  'acceptedDone',
  'acceptedNever',
  'acceptedOver',
  'acceptedStopped',
  'acceptedAwaited',
  /** A claim was deferred for its agent's rate, and one has come at its turn. */
  'rateDeferred',
  'rateTurn',
  /**
   * Rounds: another round began; all were done; a round was retried, also by a retry of the execution; a
   * round was undone before the previous one; the maximum was too low; the failure of rounds was tolerated.
   */
  'roundBegun',
  'roundsDone',
  'roundTriedAgain',
  'roundGoesOn',
  'roundUndone',
  'roundsAtMost',
  'roundsTolerated',
  /**
   * Lanes: an execution got a place: at all, after waiting, after a retry. It got none in time. It kept its
   * place after its end was announced.
   */
  'placed',
  'placedLater',
  'placedAgain',
  'noPlace',
  'leftLate',
  /**
   * Messages that the process of the previous step kept: any; given to a queue after all, for lack of time;
   * while the execution was paused, was stopped, or had its place in a lane; lost with their process; and an
   * attempt by such a message lost its lease.
   */
  'carriedOn',
  'carriedToQueue',
  'carriedPaused',
  /** A process that read a step before a pause began the step in the pause. */
  'begunInPause',
  'carriedStopped',
  'carriedPlaced',
  'carriedKilled',
  'carriedLost',
  /**
   * Values outside the table: named by a record; loaded; left behind by a process that died before it wrote
   * the record; and a step failed because a value that it reads is lost.
   */
  'valueApart',
  'valueLoaded',
  'valueLeft',
  'valueLostFor',
  /** The death of an attempt was recorded: during its lease, later, and after another attempt had begun. */
  'deathUnderLease',
  'deathLater',
  'deathOfOlder',
  /** Executions that started paused; agents that were paused. */
  'bornPaused',
  'pausedAgent',
  'pausedWhileOpen',
  /** The first probe of an attempt could not tell, while the agent's breaker was closed. */
  'untoldFirst',
  'untoldLater',
  /** The default that counts without an answer. */
  'otherwise',
  /** Done work with an invalid output, for which no person gave an output or requested it again. */
  'unmended',
  'askedForAgain',
  'foundNotDone',
  /**
   * An item with an invalid output whose question is quiet, because another item of its execution asks the
   * same.
   */
  'quietQuestion',
  /**
   * Bulk actions: executions that obeyed each action, or were already in the requested state; pages with
   * refusals. Vouched: a person confirmed that nothing had happened.
   */
  'bulkRetried',
  'bulkCanceled',
  'bulkPaused',
  'bulkResumed',
  'bulkResolved',
  'bulkSkipped',
  'bulkGaveOutput',
  'bulkVouched',
  'bulkApproved',
  'bulkRejected',
  'bulkRemembered',
  'bulkRefused',
  /** An answered command was repeated. */
  'commandRepeated',
  /** A command id was used with another command, which was refused. */
  'commandReused',
  /** An operator ordered a call of an agent now, and a step began because of it. */
  'triedNow',
  /** A read of an agent's pause failed. */
  'pauseUnread',
  /** A process died in the middle of a page, or after its page was counted. */
  'bulkKilled',
  'bulkKilledCounted',
  /**
   * Erasures: of executions, and of their child executions; refused; completed by a repeated call; and an
   * erased key started another execution.
   */
  'erased',
  'erasedChild',
  'eraseRefused',
  'eraseAgain',
  'begunAgain',
  /**
   * Messages to executions. Accepted: at all, before a step waited for them, in a pause. Taken: at all, from
   * a sender that died, after a retry, and noticed only after the time was over. None in time, and one too
   * late. Refused, because no step can take it.
   */
  'messageSent',
  'messageEarly',
  'messageInPause',
  'messageTaken',
  /** A round began with a message; a later try kept it; a round began without one, or had no room for one. */
  'messageInRound',
  'messageKept',
  'roundWithoutMessage',
  'roundTooLarge',
  'messageOfDead',
  'messageAfterRetry',
  'messageSeenLate',
  'messageMissed',
  'messageLeft',
  'messageRefused',
  /** A step that takes a message was skipped; the failure of one was tolerated. */
  'receiveSkipped',
  'receiveTolerated',
  /** A wait until an instant ended then, or failed because its data named no instant. */
  'waitedUntil',
  'untilNoInstant',
  /** A stage's other agent accepted work; such work made no progress, and was given up. */
  'acceptedByOther',
  'stalledOther',
  /** Four eyes: another person gave an approval, and a person who has acted was refused. */
  'approvedByAnother',
  'refusedToSame',
] as const;
export type Kind = (typeof KINDS)[number];
/** The minimum counts of frequent events for this many executions; for fewer, in proportion. */
const OFTEN: Partial<Record<Kind, number>> = {
  executionRetried: 1_000,
  inputGiven: 1_000,
  begunAgain: 1_000,
  carriedOn: 10_000,
};
const OF_EXECUTIONS = 200_000;

/** The events that were too rare in a run of this many executions. */
export const tooRare = (kinds: Readonly<Record<string, number>>, executions: number): Kind[] =>
  KINDS.filter((kind) => (kinds[kind] ?? 0) < Math.max(1, ((OFTEN[kind] ?? 0) * executions) / OF_EXECUTIONS));

export type KindCounts = Record<Kind, number>;

export const noKinds = (): KindCounts => Object.fromEntries(KINDS.map((kind) => [kind, 0])) as KindCounts;
