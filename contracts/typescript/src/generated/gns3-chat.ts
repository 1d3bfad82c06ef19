// Generated from gns3-chat 1.0.0 (schemas 05eb826b94cad97e) by copilot_codegen bf5b56fb, json-schema-to-typescript 16.0.0; do not edit (body 78b48b90e42977f3)
/**
 * GNS3 chat: The chat API of an AI copilot for GNS3 network labs: an agent per project, sessions in the project's own file, streamed answers, tools on lab devices.
 *
 * @module
 */

/**
 * The session's turn was stopped, or none ran.
 */
export interface AbortAnswer {
  status: "ok";
  session_id: SessionId;
}

/**
 * The turn was stopped. The last event of its stream.
 */
export interface AbortEvent {
  type: "abort";
  /**
   * Who stopped it.
   */
  reason: "user" | "deleted" | "disconnected" | "shutdown";
  session_id: SessionId;
}

/**
 * The whole turn at once: the answer of `POST /stream` with `stream: false`.
 */
export interface ChatAnswer {
  session_id: SessionId;
  /**
   * `done`, or `abort` for a turn that was stopped.
   */
  status: "done" | "abort";
  /**
   * Who stopped it, with `abort`.
   */
  reason?: "user" | "deleted" | "disconnected" | "shutdown";
  /**
   * The turn's messages, the user's first.
   */
  messages: OpenAIMessage[];
  usage: TokenUsage;
}

/**
 * The body of `POST /stream`.
 */
export interface ChatRequest {
  /**
   * The user's message.
   */
  message: string;
  /**
   * The session to continue; absent or null starts a new one.
   */
  session_id?: SessionId | null;
  /**
   * Answer with an event stream (true) or with one JSON document (false).
   */
  stream?: boolean;
  /**
   * Overrides the user's setting for this turn.
   */
  temperature?: number | null;
  /**
   * Overrides the user's limit of answer tokens for this turn.
   */
  max_tokens?: number | null;
  /**
   * The interaction mode.
   */
  mode?: "text";
}

/**
 * A session: who, where, its title and what was counted.
 */
export interface ChatSession {
  /**
   * The row's number in the project's file.
   */
  id: number;
  thread_id: SessionId;
  /**
   * Whose session it is.
   */
  user_id: string;
  /**
   * The GNS3 project.
   */
  project_id: string;
  /**
   * Generated from the first turn, or given by the user.
   */
  title: string;
  /**
   * Stored messages: the user's, the model's and tool results.
   */
  message_count: number;
  /**
   * Model calls, the title's included.
   */
  llm_calls_count: number;
  /**
   * Input tokens, summed over all model calls that told them.
   */
  input_tokens: number;
  /**
   * Output tokens, summed over all model calls that told them.
   */
  output_tokens: number;
  /**
   * input_tokens + output_tokens.
   */
  total_tokens: number;
  /**
   * When the newest message was stored; null before the first.
   */
  last_message_at: Timestamp | null;
  created_at: Timestamp;
  updated_at: Timestamp;
  /**
   * Reserved: what a server wants to keep with a session.
   */
  metadata: Record<string, unknown>;
  stats: SessionStats;
  /**
   * Kept at the top of the list.
   */
  pinned: boolean;
}

/**
 * One command's answer.
 */
export interface CommandOutput {
  /**
   * The command.
   */
  command: string;
  /**
   * What the console said.
   */
  output: string;
  /**
   * The command did not end in time and was broken off; the output is what it had said.
   */
  timed_out?: true;
  /**
   * There was more output than is kept; the middle was left out.
   */
  truncated?: true;
}

/**
 * A piece of the answer's text.
 */
export interface ContentEvent {
  type: "content";
  /**
   * The piece; append it to the message.
   */
  content: string;
  /**
   * The assistant message that grows.
   */
  message_id: string;
  session_id: SessionId;
}

/**
 * The newest messages of a session, oldest first.
 */
export interface ConversationHistory {
  thread_id: SessionId;
  /**
   * The session's title.
   */
  title: string;
  messages: OpenAIMessage[];
  created_at: Timestamp;
  updated_at: Timestamp;
  /**
   * Model calls of the session.
   */
  llm_calls: number;
  /**
   * There are older messages: ask again with `before` = the id of the first one here.
   */
  has_more: boolean;
}

/**
 * Link ports of nodes.
 */
export interface CreateLinkArguments {
  /**
   * The links to create.
   *
   * @minItems 1
   * @maxItems 50
   */
  links: LinkToCreate[];
  /**
   * The lab's project; the current one when absent. No other project can be reached.
   */
  project_id?: string;
}

/**
 * What became of each.
 */
export interface CreateLinkReport {
  /**
   * Asked for.
   */
  total: number;
  /**
   * Done.
   */
  successful: number;
  /**
   * Not done.
   */
  failed: number;
  /**
   * In the order asked.
   */
  items: (CreateLinkSuccess | ItemFailure)[];
}

/**
 * The links created.
 */
export type CreateLinkResult = CreateLinkReport | ToolError;

/**
 * Done, and seen to be done.
 */
export interface CreateLinkSuccess {
  /**
   * Its id.
   */
  id: string;
  /**
   * Its name.
   */
  name: string;
  status: "success";
  result: CreatedLink;
}

/**
 * Create nodes from templates.
 */
export interface CreateNodeArguments {
  /**
   * The nodes to create.
   *
   * @minItems 1
   * @maxItems 50
   */
  nodes: NodeToCreate[];
  /**
   * The lab's project; the current one when absent. No other project can be reached.
   */
  project_id?: string;
}

/**
 * What became of each.
 */
export interface CreateNodeReport {
  /**
   * Asked for.
   */
  total: number;
  /**
   * Done.
   */
  successful: number;
  /**
   * Not done.
   */
  failed: number;
  /**
   * In the order asked.
   */
  items: (CreateNodeSuccess | ItemFailure)[];
}

/**
 * The nodes created.
 */
export type CreateNodeResult = CreateNodeReport | ToolError;

/**
 * Done, and seen to be done.
 */
export interface CreateNodeSuccess {
  /**
   * Its id.
   */
  id: string;
  /**
   * Its name.
   */
  name: string;
  status: "success";
  result: CreatedNode;
}

/**
 * The link as the server made it.
 */
export interface CreatedLink {
  /**
   * Its id.
   */
  link_id: string;
  /**
   * A node's id.
   */
  node_id1: string;
  /**
   * Its port's short name.
   */
  port1: string;
  /**
   * The other node's id.
   */
  node_id2: string;
  /**
   * Its port's short name.
   */
  port2: string;
}

/**
 * The node as the server made it.
 */
export interface CreatedNode {
  /**
   * Its id.
   */
  node_id: string;
  /**
   * Its kind.
   */
  node_type: string;
  /**
   * Its status.
   */
  status: string;
  /**
   * Short names.
   */
  ports: string[];
}

/**
 * One host's commands.
 */
export interface DeviceCommands {
  /**
   * The host's name, for example PC1.
   */
  device_name: string;
  /**
   * In order, for example `show ip`.
   *
   * @minItems 1
   * @maxItems 50
   */
  commands: string[];
}

/**
 * The turn ended normally. The last event of its stream.
 */
export interface DoneEvent {
  type: "done";
  session_id: SessionId;
}

/**
 * The turn failed. The last event of its stream.
 */
export interface ErrorEvent {
  type: "error";
  /**
   * What happened, for a person. No key, token, path or traceback.
   */
  error: string;
  code: TurnErrorCode;
  /**
   * The same request may succeed later.
   */
  retryable: boolean;
  /**
   * Seconds to wait before that, where the model's server said how long.
   */
  retry_after?: number;
  session_id: SessionId;
}

/**
 * Any event of the surface.
 */
export type Event =
  | ContentEvent
  | ToolCallEvent
  | ToolStartEvent
  | ToolEndEvent
  | ErrorEvent
  | DoneEvent
  | HeartbeatEvent
  | AbortEvent;

/**
 * List the templates that nodes can be made from.
 */
export interface GetTemplatesArguments {}

/**
 * The server's templates.
 */
export type GetTemplatesResult = TemplateList | ToolError;

/**
 * Nothing happened for a while; the connection lives.
 */
export interface HeartbeatEvent {
  type: "heartbeat";
  session_id: SessionId;
}

/**
 * Which part of the history.
 */
export interface HistoryQuery {
  /**
   * At most so many messages.
   */
  limit?: number;
  /**
   * Only messages older than the one with this id.
   */
  before?: string;
}

/**
 * Not done.
 */
export interface ItemFailure {
  /**
   * Its id, or what was asked for.
   */
  id: string;
  /**
   * Its name; null when unknown.
   */
  name: string | null;
  status: "failed";
  /**
   * Why, and what to do.
   */
  error: string;
}

/**
 * One link.
 */
export interface LinkToCreate {
  /**
   * A node's id.
   */
  node_id1: string;
  /**
   * A port of it: its name or short name.
   */
  port1: string;
  /**
   * The other node's id.
   */
  node_id2: string;
  /**
   * A port of it: its name or short name.
   */
  port2: string;
}

/**
 * What else is known of a message. Each key is there only when it says something.
 */
export interface MessageMetadata {
  /**
   * The turn ended before the model had finished this message.
   */
  interrupted?: true;
  /**
   * How a tool call ended (tool messages).
   */
  status?: "success" | "error" | "blocked" | "aborted";
  /**
   * The tool's output was longer than is kept.
   */
  truncated?: true;
  /**
   * The tool's whole output, in bytes, when truncated.
   */
  original_size?: number;
  /**
   * The model that wrote the message.
   */
  model?: string;
  /**
   * Why the model stopped.
   */
  finish_reason?: string;
}

/**
 * What one model did in a session.
 */
export interface ModelUsage {
  /**
   * Calls.
   */
  llm_calls: number;
  /**
   * Null when no call told it.
   */
  input_tokens: number | null;
  /**
   * Null when no call told it.
   */
  output_tokens: number | null;
}

/**
 * One node.
 */
export interface NodeToCreate {
  /**
   * A template's id, from get_gns3_templates.
   */
  template_id: string;
  x: number;
  y: number;
  /**
   * The wished name.
   */
  name?: string;
}

/**
 * What is called, and with what.
 */
export interface OpenAIFunctionCall {
  /**
   * The tool's name.
   */
  name: string;
  /**
   * The whole arguments: the text of a JSON object, or what the model wrote when it wrote none.
   */
  arguments: string;
}

/**
 * One message of a conversation, in OpenAI's form.
 */
export interface OpenAIMessage {
  /**
   * The message's id; the same in the stream and at every read.
   */
  id: string;
  role: "user" | "assistant" | "system" | "tool";
  /**
   * The text; empty for an assistant message that only calls tools. A tool's result is strict JSON or plain text.
   */
  content: string;
  created_at: Timestamp;
  /**
   * The tool's name (tool messages).
   */
  name?: string;
  /**
   * The call that this result answers (tool messages).
   */
  tool_call_id?: string;
  /**
   * The tools that an assistant message calls.
   *
   * @minItems 1
   */
  tool_calls?: OpenAIToolCall[];
  metadata?: MessageMetadata;
}

/**
 * One call of a tool in an assistant message, as OpenAI writes it.
 */
export interface OpenAIToolCall {
  /**
   * The call's id.
   */
  id: string;
  type: "function";
  function: OpenAIFunctionCall;
}

/**
 * An HTTP error: RFC 9457 problem details.
 */
export interface Problem {
  /**
   * A URI that names the kind of problem.
   */
  type: string;
  /**
   * The kind of problem, in a few words.
   */
  title: string;
  /**
   * The HTTP status.
   */
  status: number;
  /**
   * What happened and what to do, for a person.
   */
  detail: string;
  /**
   * What happened, for a program. A failed turn that was not streamed has the codes of the `error` event.
   */
  code:
    | "unauthorized"
    | "project_not_found"
    | "project_not_opened"
    | "session_not_found"
    | "session_busy"
    | "llm_not_configured"
    | "invalid_request"
    | "body_too_large"
    | "resync_required"
    | "version_conflict"
    | "llm_unauthorized"
    | "llm_rate_limited"
    | "llm_unavailable"
    | "upstream_disconnected"
    | "context_window_exceeded"
    | "limit_reached"
    | "project_closed"
    | "contract_violation"
    | "internal";
  /**
   * Names this request in the server's log.
   */
  request_id: string;
  /**
   * The same as `detail`: what GNS3's own clients read.
   */
  message: string;
  /**
   * The session, when a turn that was not streamed failed, or the turn of a repeated `Idempotency-Key` can't be read any more.
   */
  session_id?: SessionId;
  /**
   * The same request may succeed later (a failed turn).
   */
  retryable?: boolean;
}

/**
 * A new title.
 */
export interface RenameSessionRequest {
  /**
   * 1 to 255 characters after trimming.
   */
  title: string;
}

/**
 * A session's id: LangGraph's `thread_id`.
 */
export type SessionId = string;

/**
 * The user's sessions in the project: pinned ones first, then by `updated_at`, newest first.
 */
export type SessionList = ChatSession[];

/**
 * Which part of the list.
 */
export interface SessionListQuery {
  /**
   * At most so many sessions.
   */
  limit?: number;
  /**
   * Leave out so many first.
   */
  offset?: number;
  /**
   * Only sessions whose title contains this.
   */
  q?: string;
}

/**
 * Figures of a session beside its counters. A figure that no model told is null, never 0.
 */
export interface SessionStats {
  /**
   * Input tokens of the newest model call: how full the context is.
   */
  context_tokens: number | null;
  /**
   * Model calls whose token figures the model did not tell.
   */
  unknown_usage_calls: number;
  /**
   * Turns, however they ended.
   */
  turns: number;
  /**
   * Time of all turns together, in milliseconds.
   */
  duration_ms: number;
  /**
   * By model name.
   */
  models: Record<string, ModelUsage>;
  /**
   * Calls by tool name.
   */
  tool_calls: Record<string, number>;
  last_turn?: TurnStats;
}

/**
 * Start nodes.
 */
export interface StartNodeArguments {
  /**
   * The nodes' ids.
   *
   * @minItems 1
   * @maxItems 50
   */
  node_ids: string[];
  /**
   * The lab's project; the current one when absent. No other project can be reached.
   */
  project_id?: string;
}

/**
 * The node's status after.
 */
export interface StartNodeEffect {
  node_status: "started";
}

/**
 * What became of each.
 */
export interface StartNodeReport {
  /**
   * Asked for.
   */
  total: number;
  /**
   * Done.
   */
  successful: number;
  /**
   * Not done.
   */
  failed: number;
  /**
   * In the order asked.
   */
  items: (StartNodeSuccess | ItemFailure)[];
}

/**
 * What became of each node; success means that it was seen started.
 */
export type StartNodeResult = StartNodeReport | ToolError;

/**
 * Done, and seen to be done.
 */
export interface StartNodeSuccess {
  /**
   * Its id.
   */
  id: string;
  /**
   * Its name.
   */
  name: string;
  status: "success";
  result: StartNodeEffect;
}

/**
 * Stop nodes.
 */
export interface StopNodeArguments {
  /**
   * The nodes' ids.
   *
   * @minItems 1
   * @maxItems 50
   */
  node_ids: string[];
  /**
   * The lab's project; the current one when absent. No other project can be reached.
   */
  project_id?: string;
}

/**
 * The node's status after.
 */
export interface StopNodeEffect {
  node_status: "stopped";
}

/**
 * What became of each.
 */
export interface StopNodeReport {
  /**
   * Asked for.
   */
  total: number;
  /**
   * Done.
   */
  successful: number;
  /**
   * Not done.
   */
  failed: number;
  /**
   * In the order asked.
   */
  items: (StopNodeSuccess | ItemFailure)[];
}

/**
 * What became of each node; success means that it was seen stopped.
 */
export type StopNodeResult = StopNodeReport | ToolError;

/**
 * Done, and seen to be done.
 */
export interface StopNodeSuccess {
  /**
   * Its id.
   */
  id: string;
  /**
   * Its name.
   */
  name: string;
  status: "success";
  result: StopNodeEffect;
}

/**
 * What is called, and the arguments so far.
 */
export interface StreamedFunctionCall {
  /**
   * The tool's name.
   */
  name: string;
  /**
   * The arguments' text so far, from its beginning.
   */
  arguments: string;
  /**
   * On the call's last event, when the arguments are a whole JSON object.
   */
  complete?: true;
}

/**
 * The call so far.
 */
export interface StreamedToolCall {
  /**
   * The call's id.
   */
  id: string;
  type: "function";
  function: StreamedFunctionCall;
}

/**
 * What a node can be made from.
 */
export interface Template {
  /**
   * Its id.
   */
  template_id: string;
  /**
   * Its name.
   */
  name: string;
  /**
   * For example vpcs.
   */
  template_type: string;
  /**
   * For example guest.
   */
  category: string | null;
}

/**
 * The templates.
 */
export interface TemplateList {
  templates: Template[];
}

/**
 * A point in time: UTC, ISO 8601, with `Z`.
 */
export type Timestamp = string;

/**
 * Tokens of one turn; null when the model did not tell.
 */
export interface TokenUsage {
  /**
   * Model calls, the title's included.
   */
  llm_calls: number;
  input_tokens: number | null;
  output_tokens: number | null;
  total_tokens: number | null;
}

/**
 * The model calls a tool; the arguments grow from event to event.
 */
export interface ToolCallEvent {
  type: "tool_call";
  tool_call: StreamedToolCall;
  /**
   * The assistant message that calls.
   */
  message_id: string;
  session_id: SessionId;
}

/**
 * A tool has ended, however it ended. Invalid, unknown and blocked calls get a start and an end too.
 */
export interface ToolEndEvent {
  type: "tool_end";
  /**
   * The tool's name.
   */
  tool_name: string;
  /**
   * The call that it answers.
   */
  tool_call_id: string;
  /**
   * The result: strict JSON or plain text, never longer than the server's bound.
   */
  tool_output: string;
  status: "success" | "error" | "blocked" | "aborted";
  /**
   * The output was longer: its head and tail are here.
   */
  truncated?: true;
  /**
   * The whole output, in bytes, when truncated.
   */
  original_size?: number;
  /**
   * The tool message that holds the result.
   */
  message_id: string;
  session_id: SessionId;
}

/**
 * The tool could do nothing.
 */
export interface ToolError {
  /**
   * What happened, and what to do.
   */
  error: string;
}

/**
 * A tool begins to run.
 */
export interface ToolStartEvent {
  type: "tool_start";
  /**
   * The tool's name.
   */
  tool_name: string;
  /**
   * The call that it answers.
   */
  tool_call_id: string;
  /**
   * The assistant message that called.
   */
  message_id: string;
  session_id: SessionId;
}

/**
 * The lab as it stands.
 */
export interface Topology {
  /**
   * The project.
   */
  project_id: string;
  /**
   * Its name.
   */
  name: string;
  /**
   * opened or closed.
   */
  status: string;
  /**
   * By name.
   */
  nodes: Record<string, TopologyNode>;
  links: TopologyLink[];
}

/**
 * A link between two ports.
 */
export interface TopologyLink {
  /**
   * Its id.
   */
  link_id: string;
  /**
   * For example ethernet.
   */
  link_type: string;
  /**
   * A node's name.
   */
  node1: string;
  /**
   * Its port's short name.
   */
  port1: string;
  /**
   * A node's name.
   */
  node2: string;
  /**
   * Its port's short name.
   */
  port2: string;
}

/**
 * A node of the lab.
 */
export interface TopologyNode {
  /**
   * Its id.
   */
  node_id: string;
  /**
   * Its kind, for example vpcs.
   */
  node_type: string;
  /**
   * stopped, started or suspended.
   */
  status: string;
  /**
   * For example telnet.
   */
  console_type: string | null;
  /**
   * The console's TCP port.
   */
  console_port: number | null;
  x: number;
  y: number;
  tags: string[];
  /**
   * Short names.
   */
  ports: string[];
}

/**
 * Read the lab: its nodes and links.
 */
export interface TopologyReaderArguments {
  /**
   * The lab's project; the current one when absent. No other project can be reached.
   */
  project_id?: string;
}

/**
 * The lab's nodes and links.
 */
export type TopologyReaderResult = Topology | ToolError;

/**
 * Why a turn failed.
 */
export type TurnErrorCode =
  | "llm_unauthorized"
  | "llm_rate_limited"
  | "llm_unavailable"
  | "upstream_disconnected"
  | "context_window_exceeded"
  | "limit_reached"
  | "project_closed"
  | "contract_violation"
  | "internal";

/**
 * The newest turn.
 */
export interface TurnStats {
  status: "done" | "error" | "abort";
  /**
   * In milliseconds.
   */
  duration_ms: number;
  /**
   * The request's override.
   */
  temperature?: number;
  /**
   * The request's override.
   */
  max_tokens?: number;
}

/**
 * Run commands on VPCS hosts.
 */
export interface VpcsCommandsArguments {
  /**
   * Which commands on which host.
   *
   * @minItems 1
   * @maxItems 50
   */
  device_configs: DeviceCommands[];
  /**
   * The lab's project; the current one when absent. No other project can be reached.
   */
  project_id?: string;
}

/**
 * What became of each.
 */
export interface VpcsCommandsReport {
  /**
   * Asked for.
   */
  total: number;
  /**
   * Done.
   */
  successful: number;
  /**
   * Not done.
   */
  failed: number;
  /**
   * In the order asked.
   */
  items: (VpcsCommandsSuccess | ItemFailure)[];
}

/**
 * What each host answered.
 */
export type VpcsCommandsResult = VpcsCommandsReport | ToolError;

/**
 * Done, and seen to be done.
 */
export interface VpcsCommandsSuccess {
  /**
   * Its id.
   */
  id: string;
  /**
   * Its name.
   */
  name: string;
  status: "success";
  result: VpcsOutput;
}

/**
 * The answers.
 */
export interface VpcsOutput {
  outputs: CommandOutput[];
}

/**
 * What each route takes and answers, by status.
 */
export interface Routes {
  stream_chat: {
    request: ChatRequest;
    responses: {
      200: ChatAnswer;
      400: Problem;
      401: Problem;
      403: Problem;
      404: Problem;
      409: Problem;
      410: Problem;
      413: Problem;
      415: Problem;
      421: Problem;
      422: Problem;
      500: Problem;
      502: Problem;
      503: Problem;
    };
  };
  list_sessions: {
    query: SessionListQuery;
    responses: {
      200: SessionList;
      401: Problem;
      403: Problem;
      404: Problem;
      415: Problem;
      421: Problem;
      422: Problem;
      500: Problem;
      503: Problem;
    };
  };
  get_history: {
    query: HistoryQuery;
    responses: {
      200: ConversationHistory;
      401: Problem;
      403: Problem;
      404: Problem;
      415: Problem;
      421: Problem;
      422: Problem;
      500: Problem;
      503: Problem;
    };
  };
  rename_session: {
    request: RenameSessionRequest;
    responses: {
      200: ChatSession;
      401: Problem;
      403: Problem;
      404: Problem;
      413: Problem;
      415: Problem;
      421: Problem;
      422: Problem;
      500: Problem;
      503: Problem;
    };
  };
  delete_session: {
    responses: {
      401: Problem;
      403: Problem;
      404: Problem;
      415: Problem;
      421: Problem;
      500: Problem;
      503: Problem;
    };
  };
  pin_session: {
    responses: {
      200: ChatSession;
      401: Problem;
      403: Problem;
      404: Problem;
      415: Problem;
      421: Problem;
      500: Problem;
      503: Problem;
    };
  };
  unpin_session: {
    responses: {
      200: ChatSession;
      401: Problem;
      403: Problem;
      404: Problem;
      415: Problem;
      421: Problem;
      500: Problem;
      503: Problem;
    };
  };
  abort_session: {
    responses: {
      200: AbortAnswer;
      401: Problem;
      403: Problem;
      404: Problem;
      415: Problem;
      421: Problem;
      500: Problem;
      503: Problem;
    };
  };
  resume_stream: {
    responses: {
      401: Problem;
      403: Problem;
      404: Problem;
      410: Problem;
      415: Problem;
      421: Problem;
      500: Problem;
      503: Problem;
    };
  };
}

/**
 * What each tool takes and returns.
 */
export interface Tools {
  gns3_topology_reader: { arguments: TopologyReaderArguments; returns: TopologyReaderResult };
  get_gns3_templates: { arguments: GetTemplatesArguments; returns: GetTemplatesResult };
  create_gns3_node: { arguments: CreateNodeArguments; returns: CreateNodeResult };
  create_gns3_link: { arguments: CreateLinkArguments; returns: CreateLinkResult };
  start_gns3_node: { arguments: StartNodeArguments; returns: StartNodeResult };
  stop_gns3_node: { arguments: StopNodeArguments; returns: StopNodeResult };
  execute_vpcs_commands: { arguments: VpcsCommandsArguments; returns: VpcsCommandsResult };
}

/** Every event's name, with the keys that its data always has. */
export const EVENTS = {
  content: ["type", "content", "message_id", "session_id"],
  tool_call: ["type", "tool_call", "message_id", "session_id"],
  tool_start: ["type", "tool_name", "tool_call_id", "message_id", "session_id"],
  tool_end: [
    "type",
    "tool_name",
    "tool_call_id",
    "tool_output",
    "status",
    "message_id",
    "session_id",
  ],
  error: ["type", "error", "code", "retryable", "session_id"],
  done: ["type", "session_id"],
  heartbeat: ["type", "session_id"],
  abort: ["type", "reason", "session_id"],
} as const;

export type EventName = keyof typeof EVENTS;

/** An event that this module doesn't know: skip it. */
export interface UnknownEvent {
  known: false;
  name: string;
  data: unknown;
}

export type ReadResult = { known: true; event: Event } | UnknownEvent;

/**
 * The event in one message of the stream.
 *
 * The data must be a JSON object that names the event.
 * Undeclared keys are left alone. Throws SyntaxError when the data isn't JSON, TypeError when it
 * names no event, or lacks a key that its event always has.
 */
export function readEvent(message: { readonly data: string }): ReadResult {
  const data: unknown = JSON.parse(message.data);
  const keys = typeof data === "object" && data !== null ? (data as Record<string, unknown>) : {};
  const name: unknown = keys["type"];
  if (typeof name !== "string") {
    throw new TypeError("A message of the stream names no event.");
  }
  if (!has(EVENTS, name)) return { known: false, name, data };
  for (const key of EVENTS[name as EventName]) {
    if (!has(keys, key)) {
      throw new TypeError(`The event ${name} lacks its key ${key}.`);
    }
  }
  return { known: true, event: data as Event };
}

/** As Object.hasOwn, which compilers that aim at less than ES2022 don't know. */
function has(object: object, key: string): boolean {
  return Object.prototype.hasOwnProperty.call(object, key);
}
