/// The one place to which a request's answer goes, at once or later and from any thread.
///
/// The first answer counts; later ones are ignored. A responder that is dropped unanswered answers
/// 500 `serverError` by itself, so that no fault of ours leaves a client waiting.
public final class Responder: Sendable {
    private let exchange: Exchange

    init(_ exchange: Exchange) { self.exchange = exchange }

    deinit {
        if !exchange.isAnswered { exchange.answer { Problem(.serverError).response } }
    }

    /// Names what the request is for, for whoever observes answers. Only for the handler, before
    /// it returns and before it hands the responder to another thread.
    func tag(_ tag: Int) { exchange.tag = tag }

    /// Sends the answer. False if there was one already: the draining server gave up waiting.
    @discardableResult
    public func answer(_ response: HTTPResponse) -> Bool { exchange.answer { response } }

    /// The same with a response that the connection's thread makes, so that the caller's has more time
    /// for what only it can do.
    @discardableResult
    func answer(making response: @escaping @Sendable () -> HTTPResponse) -> Bool {
        exchange.answer(response)
    }
}
