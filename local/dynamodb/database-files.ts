/** The names of the embedded DynamoDB's files, for starting it and for finding a process left behind. */
import { join } from 'node:path';

export interface DatabaseFiles {
  readonly database: string;
  /** Holds the id of the process that has the database open. */
  readonly pid: string;
}

export const databaseFilesIn = (folder: string): DatabaseFiles => ({
  database: join(folder, 'dynamodb.sqlite'),
  pid: join(folder, 'dynamodb.pid'),
});
