/**
 * The types of the faults that a person can cause in a function, their moments and results, and AWS's
 * throttling answers. Pure.
 */
import { type AwsAnswer, errorAnswer } from '../gateway/aws-call.ts';

/**
 * When `kill` or `freeze` of a `LocalCloud` strikes: `'now'`, or at a later event or AWS call of the
 * function. Counts begin with 1.
 */
export type FaultMoment =
  /** Now: every process that is serving an event; if there is none, every warm process. */
  | 'now'
  /** Now: every process that is serving an event with this text. */
  | { readonly holding: string }
  /**
   * `afterMs` after the next event reaches a ready process. With 0, the default, the handler does not get it.
   */
  | { readonly nextEvent: true; readonly afterMs?: number }
  /** The Nth next AWS call (1 = the next one), before it is executed. */
  | { readonly beforeCall: number; readonly operation?: string }
  /** The Nth next AWS call, after it was executed and before its answer is sent. */
  | { readonly afterCall: number; readonly operation?: string };

/** The AWS calls of a function that `delay`, `throttle` or `loseReply` strikes: the next `calls` of them. */
export interface CallFault {
  /** How many calls it hits, 1 or more; then it is used up. */
  readonly calls: number;
  /** Only this operation (`UpdateItem`, `SendMessage`, …). */
  readonly operation?: string;
}

/** How a fault ended: whether it struck, when, and which processes. */
export interface FaultHit {
  /**
   * hit · missed: the event ended before `afterMs` · nothing: no process to hit now · cleared: the fault was
   * withdrawn
   */
  readonly outcome: 'hit' | 'missed' | 'nothing' | 'cleared';
  /** When it hit. */
  readonly at: number;
  /** The processes that it hit; after a kill they are gone. */
  readonly pids: readonly number[];
  /** The AWS call at which it hit. */
  readonly call?: string;
}

/** late: a query of an index gets the state of a few seconds ago. */
export type FaultAction = 'kill' | 'freeze' | 'delay' | 'throttle' | 'ambiguous' | 'late';

/** A fault as the control lists it. */
export interface FaultState {
  readonly id: string;
  readonly functionName: string;
  readonly action: FaultAction;
  readonly moment: FaultMoment | CallFault;
  readonly state: 'armed' | 'over';
  readonly hits: readonly FaultHit[];
}

/** The result of `kill`, `delay` and the like: a fault that has struck, or waits for its moment. */
export interface ArmedFault {
  /** Identifies it among the armed faults. */
  readonly id: string;
  /**
   * Resolves at the first hit (after a kill: when the process is gone), or when the fault can no longer hit.
   */
  readonly hit: Promise<FaultHit>;
}

/**
 * Makes the service's throttling error. For a DynamoDB transaction it names a reason for each part.
 * https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_TransactWriteItems.html
 */
export function throttlingAnswer(service: string, operation?: string): AwsAnswer {
  if (service === 'dynamodb' && operation === 'TransactWriteItems') {
    const Message =
      'Throughput exceeds the current capacity for one or more global secondary indexes. (on request by the local cloud)';
    const message = 'Transaction refused: [ThrottlingError, None]';
    const type = 'com.amazonaws.dynamodb.v20120810#TransactionCanceledException';
    const answer = errorAnswer(400, type, message);
    const CancellationReasons = [{ Code: 'ThrottlingError', Message }, { Code: 'None' }];
    return { ...answer, body: JSON.stringify({ __type: type, message, CancellationReasons }) };
  }
  if (service === 'dynamodb') {
    const message =
      'The level of configured provisioned throughput for the table was exceeded. (throttled on request by the local cloud)';
    return errorAnswer(
      400,
      'com.amazonaws.dynamodb.v20120810#ProvisionedThroughputExceededException',
      message,
    );
  }
  if (service === 'sqs') {
    const message = 'The request was denied due to request throttling. (on request by the local cloud)';
    return errorAnswer(400, 'com.amazonaws.sqs#RequestThrottled', message, 'RequestThrottled');
  }
  return errorAnswer(400, 'ThrottlingException', 'Rate exceeded (throttled on request by the local cloud)');
}
