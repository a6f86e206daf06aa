/**
 * AWS credentials inside a Lambda function: always in the environment, put there by Lambda.
 *
 * Bundles get this file in the place of `@aws-sdk/credential-provider-node`, whose search through profiles,
 * SSO, containers and instance metadata brings the clients of three more services along: 130 KB and a fifth
 * of the load time of a cold start, for places where no function can find anything.
 */

interface Credentials {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken?: string;
}

/** The name and the form are those of the package replaced. */
export const defaultProvider = () => async (): Promise<Credentials> => {
  const { AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_SESSION_TOKEN } = process.env;
  if (AWS_ACCESS_KEY_ID === undefined || AWS_SECRET_ACCESS_KEY === undefined) {
    throw new Error(
      'no AWS credentials: AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY are not in the environment',
    );
  }
  return {
    accessKeyId: AWS_ACCESS_KEY_ID,
    secretAccessKey: AWS_SECRET_ACCESS_KEY,
    ...(AWS_SESSION_TOKEN === undefined ? {} : { sessionToken: AWS_SESSION_TOKEN }),
  };
};
