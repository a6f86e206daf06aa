/**
 * Records the connections of each function process to the gateway, and cuts them as a network does after a
 * process was frozen for long.
 */
import type { Socket } from 'node:net';

export class Connections {
  /** Open connections by the access key of their process. */
  readonly #open = new Map<string, Set<Socket>>();

  used(accessKeyId: string, socket: Socket): void {
    const known = this.#open.get(accessKeyId);
    if (known?.has(socket) === true) return;
    const all = known ?? new Set();
    this.#open.set(accessKeyId, all.add(socket));
    socket.once('close', () => {
      all.delete(socket);
      if (all.size === 0) this.#open.delete(accessKeyId);
    });
  }

  /** Closes the process's connections. @returns how many there were */
  cut(accessKeyId: string): number {
    const all = [...(this.#open.get(accessKeyId) ?? [])];
    for (const socket of all) socket.resetAndDestroy();
    return all.length;
  }
}
