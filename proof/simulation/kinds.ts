/**
 * What a run has to have seen beside faults: turns of the protocol that are rare by chance, counted.
 *
 * Owns: the list. A run in which one of them never came about proves nothing
 * about it, as with a kind of fault.
 */

export const KINDS = [
  // Failures that were tolerated, by what made them final, …
  'toleratedCertain',
  'toleratedCompensated',
  'toleratedAnswered',
  'toleratedLeft',
  // … and by whose they were.
  'toleratedChild',
  'toleratedItem',
  /** Items of a list failed in several of its parts. */
  'failedInParts',
  /** A step that takes the place of one that has failed was begun. */
  'fallback',
  // A child was tried again, by a machine or as a person said, in another way, and with success.
  'triedAgain',
  'triedAsAsked',
  'triedInAnotherWay',
  'triedAndDone',
  /** Items of a list of workflows, by how they ended. */
  'listedDone',
  'listedFailed',
  'reminded',
  /** A reminder of an incident that is open then; and of one whose time a pause has moved. */
  'remindedOfIncident',
  'remindedAfterPause',
  /** A failed execution was retried, also with another input of its failed step. */
  'executionRetried',
  'retriedWithInput',
  /** An attempt, a try or a round was begun with what a person gave; and of these a round. */
  'inputGiven',
  'roundGiven',
  /** The time of a step was over: of an agent's, of executions of its own. */
  'overTime',
  'overTimeChildren',
  /**
   * On-failure steps: done, failed for certain, or maybe not; after a second end; and one that
   * goes on as soon as they are over.
   */
  'followedUp',
  'followedUpInVain',
  'mayHaveFollowedUp',
  'followedUpAgain',
  'goesOnLater',
  /** A next stage whose former one was undone first, or left as it is because it has no effect. */
  'stageAfterUndo',
  'stageLeft',
  /**
   * Accepted work: at all, late, found after a crash; asked again; done, never to be done, not over in its
   * time; stopped by an undo, and waited for on the way back.
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
   * Rounds: another was begun; all were done; one was tried again, also as its execution was; one is
   * undone before the one below it; one more would have been needed; and their failure was tolerated.
   */
  'roundBegun',
  'roundsDone',
  'roundTriedAgain',
  'roundGoesOn',
  'roundUndone',
  'roundsAtMost',
  'roundsTolerated',
  /**
   * Lanes: a place was got, also after waiting for it, and after a retry; none in its time; and one was
   * kept after the end was announced.
   */
  'placed',
  'placedLater',
  'placedAgain',
  'noPlace',
  'leftLate',
  /**
   * Carried on by the process before: at all; given to a queue after all, for want of time; while the
   * execution was paused, or stopped, or had its place in a lane; the process died with it; and its lease
   * was lost.
   */
  'carriedOn',
  'carriedToQueue',
  'carriedPaused',
  /** What was read before a pause was begun behind it. */
  'begunInPause',
  'carriedStopped',
  'carriedPlaced',
  'carriedKilled',
  'carriedLost',
  /**
   * Values beside the table: named by a record, loaded, and left by whoever died before the record; and a
   * step failed because one that it reads is lost.
   */
  'valueApart',
  'valueLoaded',
  'valueLeft',
  'valueLostFor',
  /** The death of an attempt was recorded: under its lease, later, and when another attempt had begun. */
  'deathUnderLease',
  'deathLater',
  'deathOfOlder',
  /** Executions that were born paused; agents that were paused. */
  'bornPaused',
  'pausedAgent',
  'pausedWhileOpen',
  /** The first probe of an attempt could not tell, and its breaker was closed. */
  'untoldFirst',
  'untoldLater',
  /** What holds without an answer. */
  'otherwise',
  /**
   * A wrong answer about work that is done: nobody said what it should have been, or had it asked for again.
   */
  'unmended',
  'askedForAgain',
  'foundNotDone',
  /** A wrong answer of an item that asks quietly, beside another of its execution. */
  'quietQuestion',
  /**
   * Bulk actions: executions that have obeyed each, or were as it wants already; pages with refusals.
   * Vouched: resolved with the word that nothing happened.
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
  /** A command that was answered came once more. */
  'commandRepeated',
  /** Its id came with another command, which was refused. */
  'commandReused',
  /** An operator has had an agent called now, and a step was woken by it. */
  'triedNow',
  /** Whether an agent is paused could not be read. */
  'pauseUnread',
  /** A process has died in the middle of a page, and when its page was counted. */
  'bulkKilled',
  'bulkKilledCounted',
  /**
   * Erasures: of executions, and of those that belong to them; refused; completed by the same call again; and
   * an erased key has begun another execution.
   */
  'erased',
  'erasedChild',
  'eraseRefused',
  'eraseAgain',
  'begunAgain',
  /** Four eyes: an approval was given by another person, and refused to one who has acted. */
  'approvedByAnother',
  'refusedToSame',
] as const;
export type Kind = (typeof KINDS)[number];
/** What is not rare: in so many executions at least as often, and in fewer in proportion. */
const OFTEN: Partial<Record<Kind, number>> = {
  executionRetried: 1_000,
  inputGiven: 1_000,
  begunAgain: 1_000,
  carriedOn: 10_000,
};
const OF_EXECUTIONS = 200_000;

/** Those that came about too seldom for a run of so many executions to have tested them. */
export const tooRare = (kinds: Readonly<Record<string, number>>, executions: number): Kind[] =>
  KINDS.filter((kind) => (kinds[kind] ?? 0) < Math.max(1, ((OFTEN[kind] ?? 0) * executions) / OF_EXECUTIONS));

export type KindCounts = Record<Kind, number>;

export const noKinds = (): KindCounts => Object.fromEntries(KINDS.map((kind) => [kind, 0])) as KindCounts;
