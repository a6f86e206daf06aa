/**
 * The mailboxes as one simulated process sees them: the table's, or those of a world's file.
 *
 * Owns: which of the two answers. Does not own: the cost of a call and what becomes of it (`process.ts`), the
 * judgement of an acceptance (`oracle-mail.ts`).
 */

import type { Mailboxes } from '../../lib/core/ports.ts';
import type { FileStore } from './file-store.ts';
import type { OracleMail } from './oracle-mail.ts';
import type { Process } from './process.ts';

/** @param reach a call to the store, which takes time and may fail */
export function mailboxesOf(
  mail: OracleMail,
  process: Process,
  reach: <Answer>(execute: () => Answer | Promise<Answer>) => Promise<Answer>,
  file: FileStore | undefined,
): Mailboxes {
  const { table } = mail;
  const call = <Answer>(
    execute: () => Answer,
    asked: (mailboxes: Mailboxes) => Promise<Answer>,
  ): Promise<Answer> =>
    reach(file === undefined ? execute : () => file.same(execute(), (_, mailboxes) => asked(mailboxes)));
  return {
    readMailbox: (id, life) =>
      call(
        () => table.readMailbox(id, life),
        (mailboxes) => mailboxes.readMailbox(id, life),
      ),
    readMessage: (id, life, message) =>
      call(
        () => table.readMessage(id, life, message),
        (mailboxes) => mailboxes.readMessage(id, life, message),
      ),
    accept: (mailbox, message) =>
      call(
        () => mail.accept(mailbox, message, process),
        (mailboxes) => mailboxes.accept(mailbox, message),
      ),
    writeMailbox: (mailbox) =>
      call(
        () => table.writeMailbox(mailbox),
        (mailboxes) => mailboxes.writeMailbox(mailbox),
      ),
  };
}
