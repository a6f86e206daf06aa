/**
 * The records of what is sent to an execution while it runs: its mailbox, and each message.
 *
 * Owns: the shapes and the bounds. Does not own: which message a receive takes (`waiting/waits.ts`), when
 * one is accepted (`scheduler/messages.ts`), the order of writes (`engine/reconcile.ts`).
 *
 * A mailbox is beside the execution's own records, so that a sender never meets the writes of steps.
 */

import type { Json } from '../values/json.ts';

/** A message that was accepted and not taken. */
export interface MailboxEntry {
  /** The order of acceptance, from 1. */
  readonly order: number;
  readonly name: string;
  readonly id: string;
  /** When it was accepted, epoch ms. */
  readonly at: number;
  /** The size of the body. */
  readonly bytes: number;
}

/** The messages to an execution that no step has taken. */
export interface Mailbox {
  readonly executionId: string;
  readonly life: string;
  readonly version: number;
  readonly writeId: string;
  /** The earliest first. */
  readonly entries: readonly MailboxEntry[];
  /** How many were ever accepted: the next one's order is one more. */
  readonly accepted: number;
  /**
   * There until an evaluation has read the mailbox after the last acceptance: by it a supervisor finds the
   * mailbox (L1, S12).
   */
  readonly wakeAt?: number;
}

/** A message to an execution; its id counts once. */
export interface ExecutionMessage {
  readonly executionId: string;
  readonly life: string;
  readonly id: string;
  readonly name: string;
  readonly order: number;
  readonly at: number;
  /** Absent once it is taken. */
  readonly body?: Json;
  readonly by?: string;
  /** What took it. */
  readonly taken?: { readonly step: string; readonly at: number };
}

/** The write that accepts a message: the mailbox with it, and the message. */
export interface SentMessage {
  readonly mailbox: Mailbox;
  readonly message: ExecutionMessage;
}

/** The write that takes a message: the mailbox without it, and the message without its body. */
export interface TakenMessage {
  readonly mailbox: Mailbox;
  readonly message: ExecutionMessage;
}

/** A mailbox as a process has read it, after the execution's own records; in no record. */
export interface KnownMailbox {
  /** Absent where nothing was ever sent. */
  readonly mailbox?: Mailbox;
  /** By id, as far as they were read; null where there is none. */
  readonly messages: Readonly<Record<string, ExecutionMessage | null>>;
}

/** What one mailbox keeps, at most. */
export const MOST_ENTRIES = 1_000;
export const MOST_BYTES = 16_000_000;
/** The longest body, as JSON. */
export const MOST_MESSAGE_BYTES = 200_000;
/** How long a message that was taken is known by its id. */
export const KEPT_TAKEN_MS: number = 30 * 86_400_000;
