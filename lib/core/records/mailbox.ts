/**
 * The records of messages to an execution while it runs: its mailbox, and each message.
 *
 * Owns: the shapes and the bounds. Does not own: which message a receive takes (`waiting/waits.ts`), when one
 * is accepted (`scheduler/messages.ts`), the order of writes (`engine/reconcile.ts`).
 *
 * A mailbox is apart from the execution's own records, so that senders and steps never write the same record.
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
  /** How many were ever accepted; the next message gets the next number. */
  readonly accepted: number;
  /**
   * Set from each acceptance until an evaluation has read the mailbox. A supervisor finds the mailbox by it
   * (L1, S12).
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
  /** The step that took it, and when. */
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

/** A mailbox as a process read it, after the execution's own records. It is not stored. */
export interface KnownMailbox {
  /** Absent if nothing was ever sent. */
  readonly mailbox?: Mailbox;
  /** The messages that were read, by id; null if there is none with the id. */
  readonly messages: Readonly<Record<string, ExecutionMessage | null>>;
}

/** The most that one mailbox keeps. */
export const MOST_ENTRIES = 1_000;
export const MOST_BYTES = 16_000_000;
/** The longest body, as JSON. */
export const MOST_MESSAGE_BYTES = 200_000;
/** How long the id of a taken message is remembered. */
export const KEPT_TAKEN_MS: number = 30 * 86_400_000;
